// A monitor's life, what it tells whom, and an article's way, through the SDK of @hey-api/openapi-ts.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  checkMonitorNow,
  createMonitor,
  createNotificationChannel,
  deleteMonitor,
  deleteNotificationChannel,
  deliverArticle,
  getArticle,
  getMonitor,
  getResponseTimes,
  getUptime,
  issueToken,
  listChecks,
  listIncidents,
  listMonitors,
  listNotificationDeliveries,
  testNotificationChannel,
  updateMonitor,
  updateNotificationChannel,
  type NotificationChannelSilentError,
} from "./monitoring/index.js";
import { client } from "./monitoring/client.gen.js";

const { BASE_URL, CLIENT_ID, CLIENT_SECRET, WEBHOOK_SECRET } = process.env;

async function logIn(): Promise<void> {
  const token = await issueToken({
    body: { grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
  });
  assert(token.data);
  client.setConfig({ auth: token.data.access_token });
}

async function liveAMonitorsLife(): Promise<void> {
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

  await askHowItIs(path);

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
    const page = await listMonitors({ query: { limit: 2, cursor, tag: "shop" } });
    assert(page.data);
    ids.push(...page.data.monitors.map((monitor) => monitor.id));
    if (page.data.next_cursor === null) return ids;
    cursor = page.data.next_cursor;
  }
}

async function askHowItIs(path: { monitor_id: string }): Promise<void> {
  const requested = await checkMonitorNow({ path });
  assert.equal(requested.data?.monitor_id, path.monitor_id);

  const now = new Date();
  const weekAgo = new Date(now.getTime() - 7 * 24 * 60 * 60 * 1000);
  const uptime = await getUptime({
    path,
    query: { from: weekAgo.toISOString(), to: now.toISOString(), window: "day" },
  });
  assert.equal(uptime.data?.uptime_ratio, null); // nobody looked yet
  assert.deepEqual(new Date(uptime.data?.windows.at(0)?.starts_at ?? ""), weekAgo);
  assert.deepEqual(new Date(uptime.data?.windows.at(-1)?.ends_at ?? ""), now);

  const times = await getResponseTimes({ path });
  assert.equal(times.data?.check_count, 0);
  assert.equal(times.data.p95_ms, null);
  assert.deepEqual(times.data.windows, []);
}

async function learnWhatIsDown(): Promise<void> {
  const open = await listIncidents({ query: { state: "open" } });
  const incident = open.data?.incidents[0];
  assert(incident);
  assert.equal(incident.error, "unexpected_status");
  assert.equal(incident.resolution, null);

  const path = { monitor_id: incident.monitor_id };
  const all = await listIncidents({ query: path });
  assert.deepEqual(all.data?.incidents.map((each) => each.resolution), [null, "recovered"]);

  const checks = await listChecks({ path });
  assert.deepEqual(checks.data?.checks.map((check) => check.error), ["unexpected_status", null]);
}

async function beToldOfIncidents(): Promise<void> {
  const webhook = await createNotificationChannel({
    body: { type: "webhook", url: "https://pager.example.com/hooks", events: ["incident.opened"] },
  });
  assert.deepEqual(webhook.data?.events, ["incident.opened"]);
  assert(webhook.data.type === "webhook");
  assert(webhook.data.secret.startsWith("whsec_"));

  const path = { channel_id: webhook.data.id };
  const sent = await testNotificationChannel({ path });
  assert.equal(sent.data?.event, "test");
  const page = await listNotificationDeliveries({ path });
  assert.deepEqual(page.data?.deliveries.map((delivery) => delivery.id), [sent.data.id]);

  const disabled = await updateNotificationChannel({ path, body: { type: "webhook", enabled: false } });
  assert.equal(disabled.data?.enabled, false);
  const refused = await testNotificationChannel({ path });
  assert.equal(refused.response?.status, 409);
  const error: NotificationChannelSilentError | undefined = refused.error;
  assert.equal(error?.error, "Notification channel is disabled");

  const deleted = await deleteNotificationChannel({ path });
  assert.equal(deleted.response?.status, 204);
}

async function followAnArticle(): Promise<void> {
  client.setConfig({ auth: (way) => (way.name === "X-Webhook-Secret" ? WEBHOOK_SECRET : undefined) });
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
await logIn();
await liveAMonitorsLife();
await learnWhatIsDown();
await beToldOfIncidents();
await followAnArticle();
