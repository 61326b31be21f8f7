// Create a monitor and show the state of all, with a token that stays fresh and retries that never act twice.
//
//   npm install openapi-fetch && npm install --save-dev openapi-typescript@7 typescript@5.9 @types/node@20
//   npx openapi-typescript openapi.yaml --default-non-nullable=false -o monitoring.ts
//   npx tsc --strict --target es2023 --module nodenext monitors.ts
//   BASE_URL=https://monitoring.example.com CLIENT_ID=mon_live_… CLIENT_SECRET=mon_secret_… node monitors.js
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./monitoring.js";

type Monitor = components["schemas"]["Monitor"];
type Incident = components["schemas"]["Incident"];

const { BASE_URL: baseUrl, CLIENT_ID: client_id = "", CLIENT_SECRET: client_secret = "" } = process.env;
const ATTEMPTS = 6;
const RENEW_EARLY_SECONDS = 300;

const tokens = createClient<paths>({ baseUrl, fetch: sendPatiently });
const api = createClient<paths>({ baseUrl, fetch: sendWithToken });

async function main(): Promise<void> {
  const { data: created, error } = await api.POST("/api/monitors", {
    // One key per write, not per attempt: it lets the service recognise a repetition.
    params: { header: { "Idempotency-Key": crypto.randomUUID() } },
    body: { url: "https://shop.example.com/health", interval_seconds: 60 },
  });
  if (!created) throw new Error(`not created: ${error.error}`);
  for await (const monitor of allMonitors()) console.log(monitor.status, monitor.name, monitor.url);
  console.log("uptime of 30 days:", await describeUptime(created.id));
  for (const incident of await newestOpenIncidents()) console.log("down:", incident.error_message);
}

async function* allMonitors(): AsyncGenerator<Monitor> {
  let cursor: string | undefined;
  do {
    const { data, error } = await api.GET("/api/monitors", { params: { query: { cursor } } });
    if (!data) throw new Error(`not listed: ${error.error}`);
    yield* data.monitors;
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
}

async function describeUptime(monitor_id: string): Promise<string> {
  const { data, error } = await api.GET("/api/monitors/{monitor_id}/uptime", { params: { path: { monitor_id } } });
  if (!data) throw new Error(`no uptime: ${error.error}`);
  return data.uptime_ratio === null ? "not known yet" : `${(data.uptime_ratio * 100).toFixed(3)}%`;
}

async function newestOpenIncidents(): Promise<Incident[]> {
  const { data, error } = await api.GET("/api/incidents", { params: { query: { state: "open" } } });
  if (!data) throw new Error(`no incidents: ${error.error}`);
  return data.incidents; // the newest 50
}

type Token = { value: string; renewAt: number };
let token: Promise<Token> | undefined;

/** Send with a token, and get a new one if there is none, or if it expires soon or is refused. */
async function sendWithToken(request: Request): Promise<Response> {
  if (performance.now() >= ((await token)?.renewAt ?? 0)) token = issueToken();
  const sent = await token;
  const response = await sendPatiently(withToken(request, sent));
  if (response.status !== 401) return response;
  if (sent === (await token)) token = issueToken(); // unless another request was faster
  return sendPatiently(withToken(request, await token));
}

function withToken(request: Request, token: Token | undefined): Request {
  const copy = request.clone();
  copy.headers.set("Authorization", `Bearer ${token?.value}`);
  return copy;
}

async function issueToken(): Promise<Token> {
  const { data, error } = await tokens.POST("/api/oauth/token", {
    body: { grant_type: "client_credentials", client_id, client_secret },
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (!data) throw new Error(`no token: ${error.error}`);
  return { value: data.access_token, renewAt: performance.now() + (data.expires_in - RENEW_EARLY_SECONDS) * 1000 };
}

/** Send again after 429, 5xx and a broken connection: when the service says, else with growing pauses. */
async function sendPatiently(request: Request): Promise<Response> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const response = await fetch(request.clone()).catch(() => undefined);
    if (response && response.status !== 429 && response.status < 500) return response;
    await sleep(pauseSeconds(attempt, response) * 1000);
  }
  return fetch(request);
}

/** At least Retry-After, and different for clients that failed together. */
function pauseSeconds(attempt: number, response: Response | undefined): number {
  const retryAfter = response?.headers.get("Retry-After") ?? (response?.status === 429 ? "60" : undefined);
  if (retryAfter) return Number(retryAfter) + Math.random() / 2;
  return 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

await main();
