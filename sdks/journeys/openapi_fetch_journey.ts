// A monitor's life, what it tells whom, and an article's way, through openapi-typescript's types and openapi-fetch.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./monitoring.js";

type Monitor = components["schemas"]["Monitor"];
type CheckError = components["schemas"]["CheckError"];
type NotificationType = components["schemas"]["NotificationType"];
type NotificationChannelSilentError = components["schemas"]["NotificationChannelSilentError"];
type Headers = { Authorization: string };

const { BASE_URL: baseUrl, CLIENT_ID = "", CLIENT_SECRET = "", WEBHOOK_SECRET = "" } = process.env;
const api = createClient<paths>({ baseUrl });

async function logIn(): Promise<Headers> {
  const token = await api.POST("/api/oauth/token", {
    body: { grant_type: "client_credentials", client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  assert(token.data);
  return { Authorization: `Bearer ${token.data.access_token}` };
}

async function liveAMonitorsLife(headers: Headers): Promise<void> {
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

  await askHowItIs(path, headers);

  for (const monitor_id of ids) {
    const deleted = await api.DELETE("/api/monitors/{monitor_id}", { params: { path: { monitor_id } }, headers });
    assert.equal(deleted.response.status, 204);
  }
  const gone = await api.GET("/api/monitors/{monitor_id}", { params: { path }, headers });
  assert.equal(gone.response.status, 404);
  assert.equal(gone.error?.error, "Monitor not found");
}

async function listIds(headers: Headers): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await api.GET("/api/monitors", { params: { query: { limit: 2, cursor, tag: "shop" } }, headers });
    assert(page.data);
    ids.push(...page.data.monitors.map((monitor) => monitor.id));
    if (page.data.next_cursor === null) return ids;
    cursor = page.data.next_cursor;
  }
}

async function askHowItIs(path: { monitor_id: string }, headers: Headers): Promise<void> {
  const requested = await api.POST("/api/monitors/{monitor_id}/check", { params: { path }, headers });
  assert.equal(requested.data?.monitor_id, path.monitor_id);

  const now = new Date();
  const weekAgo = new Date(now.getTime() - 7 * 24 * 60 * 60 * 1000);
  const query = { from: weekAgo.toISOString(), to: now.toISOString(), window: "day" } as const;
  const uptime = await api.GET("/api/monitors/{monitor_id}/uptime", { params: { path, query }, headers });
  assert.equal(uptime.data?.uptime_ratio, null); // nobody looked yet
  assert.deepEqual(new Date(uptime.data?.windows.at(0)?.starts_at ?? ""), weekAgo);
  assert.deepEqual(new Date(uptime.data?.windows.at(-1)?.ends_at ?? ""), now);

  const times = await api.GET("/api/monitors/{monitor_id}/response-times", { params: { path }, headers });
  assert.equal(times.data?.check_count, 0);
  assert.equal(times.data.p95_ms, null);
  assert.deepEqual(times.data.windows, []);
}

async function learnWhatIsDown(headers: Headers): Promise<void> {
  const open = await api.GET("/api/incidents", { params: { query: { state: "open" } }, headers });
  const incident = open.data?.incidents[0];
  assert(incident);
  assert.equal(incident.error, "unexpected_status" satisfies CheckError);
  assert.equal(incident.resolution, null);

  const path = { monitor_id: incident.monitor_id };
  const all = await api.GET("/api/incidents", { params: { query: path }, headers });
  assert.deepEqual(all.data?.incidents.map((each) => each.resolution), [null, "recovered"]);

  const checks = await api.GET("/api/monitors/{monitor_id}/checks", { params: { path }, headers });
  assert.deepEqual(checks.data?.checks.map((check) => check.error), ["unexpected_status", null]);
}

async function beToldOfIncidents(headers: Headers): Promise<void> {
  const webhook = await api.POST("/api/notification-channels", {
    body: { type: "webhook", url: "https://pager.example.com/hooks", events: ["incident.opened"] },
    headers,
  });
  assert.deepEqual(webhook.data?.events, ["incident.opened"]);
  assert(webhook.data.type === "webhook");
  assert(webhook.data.secret.startsWith("whsec_"));

  const path = { channel_id: webhook.data.id };
  const sent = await api.POST("/api/notification-channels/{channel_id}/test", { params: { path }, headers });
  assert.equal(sent.data?.event, "test" satisfies NotificationType);
  const page = await api.GET("/api/notification-channels/{channel_id}/deliveries", { params: { path }, headers });
  assert.deepEqual(page.data?.deliveries.map((delivery) => delivery.id), [sent.data.id]);

  const disabled = await api.PATCH("/api/notification-channels/{channel_id}", {
    params: { path },
    body: { type: "webhook", enabled: false },
    headers,
  });
  assert.equal(disabled.data?.enabled, false);
  const refused = await api.POST("/api/notification-channels/{channel_id}/test", { params: { path }, headers });
  assert.equal(refused.response.status, 409);
  const error: NotificationChannelSilentError | undefined = refused.error;
  assert.equal(error?.error, "Notification channel is disabled");

  const deleted = await api.DELETE("/api/notification-channels/{channel_id}", { params: { path }, headers });
  assert.equal(deleted.response.status, 204);
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

const headers = await logIn();
await liveAMonitorsLife(headers);
await learnWhatIsDown(headers);
await beToldOfIncidents(headers);
await followAnArticle();
