// Reads lists of headings as JSON, and writes the anchors that GitHub gives them.
import { json } from "node:stream/consumers";
import GithubSlugger from "github-slugger";

const documents = await json(process.stdin);
const anchors = documents.map((headings) => {
  const slugger = new GithubSlugger();
  return headings.map((heading) => slugger.slug(heading));
});
process.stdout.write(JSON.stringify(anchors));
