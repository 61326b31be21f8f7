import { listMonitors } from "./monitoring.js";

const headers = { Authorization: `Bearer ${process.env.TOKEN}` };

// <recipe>

for await (const monitor of everyMonitor()) console.log(monitor.id);
