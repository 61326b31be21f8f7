// Renews the marked parts of a page while somebody looks at it. Nodes stay, and with them focus and selection;
// rows are told apart by `data-key`, so that a link never becomes that of another row.
// The service answers with lines, each of which is the page as it has become, as JSON. Empty ones are signs of life.
const LINES = "application/x-ndjson";
const BETWEEN_MS = 2500;
const UNSEEN_MS = 30_000; // browsers let a page in the background ask no more than once a minute, after a while
const SILENCE_MS = 25_000; // signs of life come every 10 seconds
const UNSEEN_SILENCE_MS = 150_000;
const OLD = "(old) ";
const UNITS = [[86_400, "d", "day"], [3_600, "h", "hour"], [60, "min", "minute"], [1, "s"]];
const [news, stale] = ["news", "stale"].map((id) => document.getElementById(id));
let [failures, timer, ahead, asking] = [0, 0, null, new AbortController()];
// When the service was last heard, and since when somebody looks at the page, by a clock that nobody sets.
let [heardAt, seenAt] = [performance.now(), performance.now()];
let trueAt = Date.now(); // as of when the parts are as they are

function morph(node, fresh) {
  if (node.nodeName !== fresh.nodeName) return node.replaceWith(document.importNode(fresh, true));
  if (node.nodeType !== Node.ELEMENT_NODE) return node.data === fresh.data || (node.data = fresh.data);
  for (const { name } of [...node.attributes])
    if (name !== "open" && !fresh.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (name !== "open" && node.getAttribute(name) !== value) node.setAttribute(name, value);
  const wanted = [...fresh.childNodes];
  wanted.forEach((child, at) => {
    const [here, key] = [node.childNodes[at], child.dataset?.key];
    const same = key ? [...node.children].find((one) => one.dataset.key === key) : here?.dataset?.key ? undefined : here;
    if (!same) return node.insertBefore(document.importNode(child, true), here ?? null);
    if (same !== here) node.insertBefore(same, here);
    morph(same, child);
  });
  while (node.childNodes.length > wanted.length) node.lastChild.remove();
}

function show(fresh) {
  // Others are sent the same, so that the token of the forms is put in here.
  const token = document.querySelector("[name=csrf_token]").value;
  for (const field of fresh.querySelectorAll("[name=csrf_token]")) field.setAttribute("value", token);
  const [before, now] = [document, fresh].map((page) => page.querySelector(".checks time")?.dateTime);
  if (now && now !== before) document.querySelector("[data-passing]:not(:focus-within)")?.remove();
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-live]")) {
    const found = fresh.getElementById(part.id);
    if (found) morph(part, found);
  }
  morph(document.querySelector("link[rel=icon]"), fresh.querySelector("link[rel=icon]"));
  const says = fresh.getElementById("news")?.dataset.says ?? news.dataset.says; // title and icon may come alone
  if (news.dataset.says !== says) news.textContent = news.dataset.says = says;
}

// As `write_duration` of `words.py` says it.
function inWords(seconds) {
  let rest = seconds;
  const first = UNITS.findIndex(([length]) => rest >= length);
  const parts = UNITS.slice(first, first + 2).map(([length, unit]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count ? `${count} ${unit}` : "";
  });
  return first < 0 ? "0 s" : parts.filter(Boolean).join(" ");
}

// As `write_ago`, `write_since` and `write_until` of `words.py` say it. The clock is the service's.
function keepTimesTrue() {
  if (ahead === null || document.hidden) return;
  const secondsSince = (moment) => Math.max(0, Math.round((Date.now() + ahead - Date.parse(moment)) / 1000));
  for (const { dateTime, firstChild } of document.querySelectorAll("[data-live] [data-ago]")) {
    const seconds = secondsSince(dateTime);
    const [length, , word] = UNITS.find(([least]) => seconds >= least) ?? [];
    const count = Math.floor(seconds / length);
    firstChild.data = word ? `${count} ${word}${count === 1 ? "" : "s"} ago` : "just now";
  }
  for (const { dataset, firstChild } of document.querySelectorAll("[data-live] [data-since]"))
    firstChild.data = inWords(secondsSince(dataset.since));
  for (const { dateTime, firstChild } of document.querySelectorAll("[data-live] [data-until]")) {
    const seconds = Math.round((Date.parse(dateTime) - Date.now() - ahead) / 1000);
    firstChild.data = seconds > 0 ? `in ${inWords(seconds)}` : "soon";
  }
}

// Says how old the page is once nothing was heard for a while, whatever the reason. The seconds are not read aloud.
function tellAge() {
  const mostMs = document.hidden ? UNSEEN_SILENCE_MS : SILENCE_MS;
  const isOld = performance.now() - Math.max(heardAt, seenAt) >= mostMs;
  if (isOld === stale.hidden) {
    stale.hidden = !isOld;
    document.body.classList.toggle("old", isOld);
    document.title = (isOld ? OLD : "") + document.title.replace(OLD, "");
    stale.querySelector("time").textContent = new Date(trueAt).toLocaleTimeString("en-GB");
  }
  if (isOld) stale.querySelector("span").textContent = `, ${inWords(Math.round((Date.now() - trueAt) / 1000))} ago`;
}

function hear() {
  heardAt = performance.now();
  if (!document.hidden) trueAt = Date.now();
  failures = 0;
  tellAge();
}

function renewIn(ms, isFailure = false) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    failures += isFailure; // a proxy keeps what the service says, or the connection is dead
    renew();
  }, ms);
}

// Shows the newest line of all that came at once.
async function read(answer, signal) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { value, done } = await reader.read();
    if (done || signal.aborted) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    const newest = lines.filter(Boolean).pop();
    if (newest) show(new DOMParser().parseFromString(JSON.parse(newest), "text/html"));
    if (lines.length) hear();
    renewIn(SILENCE_MS, true);
  }
}

async function renew() {
  clearTimeout(timer);
  asking.abort();
  const { signal } = (asking = new AbortController());
  const between = document.hidden ? UNSEEN_MS : BETWEEN_MS;
  // Whoever does not look at the page sees its title and its icon. They come at once: an answer under way would take
  // one of the few connections of the browser.
  const headers = { Accept: LINES, ...(document.hidden && { Prefer: "return=minimal" }) };
  try {
    const answer = await fetch(location.href, { headers, signal });
    const isOurs = answer.headers.get("Content-Type")?.startsWith(LINES); // and no proxy's own page
    if (answer.redirected || !answer.ok || !isOurs) throw new Error("not renewed");
    ahead = Date.parse(answer.headers.get("Date")) - Date.now() || 0;
    renewIn(SILENCE_MS, true);
    await read(answer, signal);
    if (!signal.aborted) renewIn(between);
  } catch {
    if (signal.aborted) return;
    failures += 1;
    renewIn(Math.max(between, BETWEEN_MS * Math.min(2 ** failures, 16)));
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    if (stale.hidden) seenAt = performance.now(); // what was old stays so until the service is heard
    return renew();
  }
  asking.abort();
  renewIn(UNSEEN_MS);
});
setInterval(() => {
  keepTimesTrue();
  tellAge();
}, 1000);
timer = setTimeout(renew, BETWEEN_MS);
