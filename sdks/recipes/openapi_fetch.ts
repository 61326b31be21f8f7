import createClient from "openapi-fetch";
import type { paths } from "./monitoring.js";

const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
const api = createClient<paths>({ baseUrl: process.env.BASE_URL, headers });

// <recipe>

for await (const monitor of everyMonitor()) console.log(monitor.id);
