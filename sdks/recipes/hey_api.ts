import { client } from "./monitoring/client.gen.js";
import { listMonitors } from "./monitoring/index.js";

client.setConfig({ baseUrl: process.env.BASE_URL, auth: process.env.TOKEN });

// <recipe>

for await (const monitor of everyMonitor()) console.log(monitor.id);
