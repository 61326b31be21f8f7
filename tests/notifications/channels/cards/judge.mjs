// Reads adaptive cards from the standard input, and writes what Microsoft's reader makes of each, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { AdaptiveCard, SerializationContext, Versions } = createRequire(import.meta.url)("adaptivecards/dist/adaptivecards.js");

function judge(content) {
  const context = new SerializationContext(Versions.v1_4);
  const card = new AdaptiveCard();
  card.parse(content, context);
  const objections = [...Array(context.eventCount).keys()].map((at) => context.getEventAt(at).message);
  return { items: card.getItemCount(), actions: card.getActionCount(), objections };
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(judge)));
