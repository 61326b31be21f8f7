// Reads an adaptive card from the standard input, and writes what Microsoft's reader objects to, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { AdaptiveCard, SerializationContext, Versions } = createRequire(import.meta.url)("adaptivecards/dist/adaptivecards.js");

const context = new SerializationContext(Versions.v1_4);
const card = new AdaptiveCard();
card.parse(JSON.parse(readFileSync(0, "utf8")), context);
const objections = [...Array(context.eventCount).keys()].map((at) => context.getEventAt(at).message);
console.log(JSON.stringify({ items: card.getItemCount(), actions: card.getActionCount(), objections }));
