// The page is whole without this: it searches the contents, marks where you are, adds copy buttons and remembers the
// language.
const search = document.querySelector("nav input");
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const list of document.querySelectorAll("nav .found")) list.hidden = !words.length;
  for (const item of document.querySelectorAll("nav li")) {
    const said = `${item.textContent} ${item.dataset.words ?? ""}`.toLowerCase();
    item.hidden = !words.every((word) => said.includes(word));
  }
  for (const title of document.querySelectorAll("nav h2")) {
    const list = title.nextElementSibling;
    title.hidden = list.hidden || !list.querySelector("li:not([hidden])");
  }
});
search.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") document.querySelector("nav ul:not([hidden]) > li:not([hidden]) > a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input")) return;
  event.preventDefault();
  if (!search.checkVisibility()) location.hash = "contents";
  search.focus();
});

const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver((entries) => {
  const entry = entries.findLast(({ isIntersecting }) => isIntersecting);
  if (!entry) return;
  for (const link of links.values()) link.removeAttribute("aria-current");
  links.get(entry.target.id).setAttribute("aria-current", "true");
}, { rootMargin: "0px 0px -70% 0px" });
for (const heading of document.querySelectorAll("h2[id], h3[id]")) {
  if (links.has(heading.id)) watcher.observe(heading);
}

// Browsers offer a clipboard to HTTPS and to this machine only.
for (const block of navigator.clipboard ? document.querySelectorAll("pre") : []) {
  const frame = document.createElement("div");
  const button = document.createElement("button");
  frame.className = "copied";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent.trim());
    button.textContent = "Copied";
    button.addEventListener("blur", () => (button.textContent = "Copy"), { once: true });
  });
  block.replaceWith(frame);
  frame.append(block, button);
}

const kept = document.getElementById(localStorage.language);
if (kept) kept.checked = true;
for (const language of document.querySelectorAll("[name=language]")) {
  language.addEventListener("change", () => (localStorage.language = language.id));
}
