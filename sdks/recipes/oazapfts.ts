import { defaults, listMonitors } from "./monitoring.js";

defaults.baseUrl = process.env.BASE_URL ?? "";
defaults.headers = { Authorization: `Bearer ${process.env.TOKEN}` };

// <recipe>

for await (const monitor of everyMonitor()) console.log(monitor.id);
