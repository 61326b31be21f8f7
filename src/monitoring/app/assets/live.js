// Renews the marked parts of a page while somebody looks at it. Nodes stay, and with them focus and selection;
// rows are told apart by `data-key`, so that a link never becomes that of another row.
// The service holds a request back until something changes (`Prefer: wait`), so that looking costs it nothing.
const BETWEEN_MS = 2500;
const WAIT_SECONDS = 25;
const RENEWED_ANYWAY_MS = 300_000; // what moves with time alone, such as uptime and charts
const FAILURES_UNTIL_TOLD = 3;
const UNITS = [[86_400, "d", "day"], [3_600, "h", "hour"], [60, "min", "minute"], [1, "s"]];
const [news, stale] = ["news", "stale"].map((id) => document.getElementById(id));
let [known, shownAt, failures, timer, ahead, asking] = ["", 0, 0, 0, null, new AbortController()];

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
  document.title = fresh.title;
  for (const part of document.querySelectorAll("[data-live]")) {
    const found = fresh.getElementById(part.id);
    if (found) morph(part, found);
  }
  morph(document.querySelector("link[rel=icon]"), fresh.querySelector("link[rel=icon]"));
  const { says } = fresh.getElementById("news").dataset;
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

async function renew() {
  clearTimeout(timer);
  asking.abort();
  if (document.hidden) return; // a held request would take one of the few connections of the browser
  const mine = (asking = new AbortController());
  const [began, isOld] = [Date.now(), Date.now() - shownAt > RENEWED_ANYWAY_MS];
  try {
    const headers = { "If-None-Match": isOld ? "" : known, Prefer: `wait=${WAIT_SECONDS}` };
    const answer = await fetch(location.href, { headers, signal: mine.signal });
    if (answer.redirected || !(answer.ok || answer.status === 304)) throw new Error("not renewed");
    ahead = Date.parse(answer.headers.get("Date")) - Date.now() || 0;
    if (answer.ok) {
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      shownAt = Date.now();
    }
    known = answer.headers.get("ETag") ?? "";
    failures = 0;
  } catch {
    if (mine.signal.aborted) return;
    failures += 1;
  }
  stale.hidden = failures < FAILURES_UNTIL_TOLD;
  clearTimeout(timer);
  const pause = BETWEEN_MS * Math.min(2 ** failures, 16);
  timer = setTimeout(renew, failures ? pause : Math.max(0, began + pause - Date.now()));
}

document.addEventListener("visibilitychange", renew);
setInterval(keepTimesTrue, 1000);
timer = setTimeout(renew, BETWEEN_MS);
