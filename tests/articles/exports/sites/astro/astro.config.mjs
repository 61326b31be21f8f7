import { defineConfig } from "astro/config";

export default defineConfig({
  outDir: "public",
  publicDir: "static",
  cacheDir: "cache", // the sites share node_modules, where it is otherwise
  markdown: { syntaxHighlight: false }, // Shiki leaves a line plain that takes longer than 500 ms
});
