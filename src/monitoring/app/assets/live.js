// Renews the marked parts of a page while somebody looks at it. Nodes stay, and with them focus and selection;
// rows are told apart by `data-key`, so that a link never becomes that of another row.
const BETWEEN_MS = 2500;
const FAILURES_UNTIL_TOLD = 3;
const [news, stale] = ["news", "stale"].map((id) => document.getElementById(id));
let [known, failures, timer] = ["", 0, 0];

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

async function renew() {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: { "If-None-Match": known } });
    if (answer.redirected || !(answer.ok || answer.status === 304)) throw new Error("not renewed");
    if (answer.ok) {
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      known = answer.headers.get("ETag") ?? "";
    }
    failures = 0;
  } catch {
    failures += 1;
  }
  stale.hidden = failures < FAILURES_UNTIL_TOLD;
  clearTimeout(timer);
  timer = setTimeout(renew, BETWEEN_MS * Math.min(2 ** failures, 16));
}

document.addEventListener("visibilitychange", renew);
timer = setTimeout(renew, BETWEEN_MS);
