// A monitor's life and an article's way, through the SDK of @hey-api/openapi-ts.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createMonitor,
  deleteMonitor,
  getArticle,
  getMonitor,
  issueToken,
  listMonitors,
  deliverArticle,
  updateMonitor,
} from "./monitoring/index.js";
import { client } from "./monitoring/client.gen.js";

const { BASE_URL, CLIENT_ID, CLIENT_SECRET, WEBHOOK_SECRET } = process.env;

async function liveAMonitorsLife(): Promise<void> {
  const token = await issueToken({
    body: { grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
  });
  assert(token.data);
  client.setConfig({ auth: token.data.access_token });

  const ids: string[] = [];
  for (const number of [0, 1, 2]) {
    const wanted = {
      headers: { "Idempotency-Key": crypto.randomUUID() },
      body: { url: `https://shop.example.com/${number}`, tags: ["shop"] },
    };
    const created = await createMonitor(wanted);
    const repeated = await createMonitor(wanted);
    assert(created.data);
    assert.deepEqual(created.data, repeated.data);
    assert.equal(created.data.status, "pending");
    assert.equal(created.data.interval_seconds, 300);
    ids.push(created.data.id);
  }

  const path = { monitor_id: ids[0] ?? "" };
  const first = await getMonitor({ path });
  const headers = { "If-Match": first.response?.headers.get("ETag") ?? "" };
  const changed = await updateMonitor({ path, headers, body: { interval_seconds: 600 } });
  assert.equal(changed.data?.interval_seconds, 600);
  assert.deepEqual(changed.data?.tags, first.data?.tags);
  const byDefault = await updateMonitor({ path, body: { interval_seconds: null } });
  assert.equal(byDefault.data?.interval_seconds, 300);
  const stale = await deleteMonitor({ path, headers });
  assert.equal(stale.response?.status, 412);
  assert.equal(stale.error?.error, "Monitor has changed");

  assert.deepEqual(await listIds(), ids.toReversed());

  for (const monitor_id of ids) {
    const deleted = await deleteMonitor({ path: { monitor_id } });
    assert.equal(deleted.response?.status, 204);
  }
  const gone = await getMonitor({ path });
  assert.equal(gone.response?.status, 404);
  assert.equal(gone.error?.error, "Monitor not found");
}

async function listIds(): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listMonitors({ query: { limit: 2, cursor } });
    assert(page.data);
    ids.push(...page.data.monitors.map((monitor) => monitor.id));
    if (page.data.next_cursor === null) return ids;
    cursor = page.data.next_cursor;
  }
}

async function followAnArticle(): Promise<void> {
  client.setConfig({ auth: WEBHOOK_SECRET });
  const delivered = await deliverArticle({
    body: { article: { title: "Shoes", content: "# Fit first", format: "markdown", slug: "hey-api" } },
  });
  assert.equal(delivered.data?.status, "accepted");
  assert(delivered.data.article_id);

  const path = { article_id: delivered.data.article_id };
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const article = await getArticle({ path });
    assert(article.data);
    assert.deepEqual(new Set(article.data.translations.map((each) => each.locale)), new Set(delivered.data.locales));
    if (article.data.translations.every((each) => each.status === "translated")) return;
    await sleep(50);
  }
  assert.fail("the article was never translated");
}

client.setConfig({ baseUrl: BASE_URL });
await liveAMonitorsLife();
await followAnArticle();
