// A monitor's life and an article's way, through openapi-typescript's types and openapi-fetch.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./monitoring.js";

type Monitor = components["schemas"]["Monitor"];

const { BASE_URL: baseUrl, CLIENT_ID = "", CLIENT_SECRET = "", WEBHOOK_SECRET = "" } = process.env;
const api = createClient<paths>({ baseUrl });

async function liveAMonitorsLife(): Promise<void> {
  const token = await api.POST("/api/oauth/token", {
    body: { grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  assert(token.data);
  const headers = { Authorization: `Bearer ${token.data.access_token}` };

  const ids: string[] = [];
  for (const number of [0, 1, 2]) {
    const wanted = {
      params: { header: { "Idempotency-Key": crypto.randomUUID() } },
      body: { url: `https://shop.example.com/${number}`, tags: ["shop"] },
      headers,
    };
    const created = await api.POST("/api/monitors", wanted);
    const repeated = await api.POST("/api/monitors", wanted);
    assert(created.data);
    assert.deepEqual(created.data, repeated.data);
    assert.equal(created.data.status, "pending" satisfies Monitor["status"]);
    assert.equal(created.data.interval_seconds, 300);
    ids.push(created.data.id);
  }

  const path = { monitor_id: ids[0] ?? "" };
  const first = await api.GET("/api/monitors/{monitor_id}", { params: { path }, headers });
  const header = { "If-Match": first.response.headers.get("ETag") ?? "" };
  const changed = await api.PATCH("/api/monitors/{monitor_id}", {
    params: { path, header },
    body: { interval_seconds: 600 },
    headers,
  });
  assert.equal(changed.data?.interval_seconds, 600);
  assert.deepEqual(changed.data?.tags, first.data?.tags);
  const byDefault = await api.PATCH("/api/monitors/{monitor_id}", {
    params: { path },
    body: { interval_seconds: null },
    headers,
  });
  assert.equal(byDefault.data?.interval_seconds, 300);
  const stale = await api.DELETE("/api/monitors/{monitor_id}", { params: { path, header }, headers });
  assert.equal(stale.response.status, 412);
  assert.equal(stale.error?.error, "Monitor has changed");

  assert.deepEqual(await listIds(headers), ids.toReversed());

  for (const monitor_id of ids) {
    const deleted = await api.DELETE("/api/monitors/{monitor_id}", { params: { path: { monitor_id } }, headers });
    assert.equal(deleted.response.status, 204);
  }
  const gone = await api.GET("/api/monitors/{monitor_id}", { params: { path }, headers });
  assert.equal(gone.response.status, 404);
  assert.equal(gone.error?.error, "Monitor not found");
}

async function listIds(headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await api.GET("/api/monitors", { params: { query: { limit: 2, cursor } }, headers });
    assert(page.data);
    ids.push(...page.data.monitors.map((monitor) => monitor.id));
    if (page.data.next_cursor === null) return ids;
    cursor = page.data.next_cursor;
  }
}

async function followAnArticle(): Promise<void> {
  const headers = { "X-Webhook-Secret": WEBHOOK_SECRET };
  const delivered = await api.POST("/api/webhooks/publisher", {
    body: { article: { title: "Shoes", content: "# Fit first", format: "markdown", slug: "openapi-fetch" } },
    headers,
  });
  assert.equal(delivered.data?.status, "accepted");
  assert(delivered.data.article_id);

  const params = { path: { article_id: delivered.data.article_id } };
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const article = await api.GET("/api/articles/{article_id}", { params, headers });
    assert(article.data);
    assert.deepEqual(new Set(article.data.translations.map((each) => each.locale)), new Set(delivered.data.locales));
    if (article.data.translations.every((each) => each.status === "translated")) return;
    await sleep(50);
  }
  assert.fail("the article was never translated");
}

await liveAMonitorsLife();
await followAnArticle();
