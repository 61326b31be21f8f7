// Reads lists of headings as JSON, and writes the anchors that GitHub gives them.
import { readFileSync } from "node:fs";
import GithubSlugger from "github-slugger";

const documents = JSON.parse(readFileSync(0, "utf8"));
const anchors = documents.map((headings) => {
  const slugger = new GithubSlugger();
  return headings.map((heading) => slugger.slug(heading));
});
process.stdout.write(JSON.stringify(anchors));
