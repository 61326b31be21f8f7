// Reads MDX documents as JSON, and writes their structure without words, as Docusaurus' own parsers find it.
import { json } from "node:stream/consumers";
import remarkDirective from "remark-directive";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { unified } from "unified";

const WORDS = new Set(["text", "yaml"]);
const OF_WORDS = new Set(["alt", "title", "label"]); // what people read
const parser = unified().use([remarkParse, remarkFrontmatter, remarkGfm, remarkMdx, remarkDirective]);

// Without places, what people read, and where links within the page lead, since headings have anchors of words.
function withoutWords(name, value) {
  if (["children", "data", "position"].includes(name) || OF_WORDS.has(name)) return undefined;
  if (OF_WORDS.has(value?.name)) return value.name;
  return name === "url" && value.startsWith("#") ? "#" : value;
}

function list(node, parts) {
  if (node.type === "text" && !node.value.trim()) return parts;
  parts.push(JSON.stringify(WORDS.has(node.type) ? node.type : node, withoutWords));
  for (const child of node.children ?? []) list(child, parts);
  if (node.children?.length) parts.push(`/${node.type}`);
  return parts;
}

function read(source) {
  try {
    return list(parser.parse(source), []);
  } catch (error) {
    return [`cannot be read: ${error.reason}`];
  }
}

process.stdout.write(JSON.stringify((await json(process.stdin)).map(read)));
