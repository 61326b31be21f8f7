// The page is whole without this: it searches the contents, marks where you are, adds copy buttons, remembers the
// language, and lets you try an operation.
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

// Try it: what the document says of an operation becomes a form. Credentials stay in `credentials`, and so in this page
// alone: they are sent as headers, are stored nowhere, and are gone when you leave. Cookies are not sent.
const credentials = { TOKEN: "", SECRET: "" };
const base = new URL(".", location.href);
let loading;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function labelled(words, field) {
  return element("label", {}, element("span", {}, words), field);
}

function follow(root, node) {
  while (node?.$ref) node = node.$ref.slice(2).split("/").reduce((found, step) => found[step.replaceAll("~1", "/")], root);
  return node;
}

function find(root, id) {
  for (const [path, item] of Object.entries(root.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation.operationId !== id) continue;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) => follow(root, each));
      const [type, media] = Object.entries(follow(root, operation.requestBody)?.content ?? {})[0] ?? [];
      const example = follow(root, Object.values(media?.examples ?? {})[0])?.value;
      return { path, method: method.toUpperCase(), parameters, type, example, security: operation.security ?? root.security };
    }
  }
}

function write(type, example) {
  if (typeof example === "string") return example;
  return type === "application/x-www-form-urlencoded" ? String(new URLSearchParams(example)) : JSON.stringify(example, null, 2);
}

// What the schemes of an operation take: the header, what stands before the credential, and its name in the samples.
function schemesOf(root, security) {
  const names = new Set(security.flatMap(Object.keys));
  const schemes = [];
  if (names.has("bearerAuth")) schemes.push({ header: "Authorization", before: "Bearer ", name: "TOKEN", label: "Access token" });
  if (names.has("webhookSecret")) schemes.push({ header: "X-Webhook-Secret", before: "", name: "SECRET", label: "Webhook secret" });
  return schemes;
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function build(root, operation) {
  const fields = operation.parameters.map((parameter) => ({
    parameter,
    input: element("input", {
      value: parameter.required ? String(parameter.example ?? "") : "",
      placeholder: parameter.required ? "" : String(parameter.example ?? ""),
      required: Boolean(parameter.required), autocomplete: "off", spellcheck: false,
    }),
  }));
  const schemes = schemesOf(root, operation.security);
  const keys = schemes.map(({ name, label }) => {
    const input = element("input", { type: "password", autocomplete: "off", value: credentials[name] });
    input.dataset.credential = name;
    input.addEventListener("input", () => share(name, input.value));
    return labelled(label, input);
  });
  const body = operation.type && element("textarea", {
    value: write(operation.type, operation.example ?? ""), rows: 8, autocomplete: "off", spellcheck: false,
  });
  const send = element("button", { type: "button", className: "send" }, `Send ${operation.method}`);
  const curl = element("pre", {});
  const shown = element("pre", {});
  const answer = element("div", { hidden: true }, curl, shown);
  answer.setAttribute("role", "status");
  send.addEventListener("click", async () => {
    const wrong = fields.find(({ input }) => !input.reportValidity());
    if (wrong) return wrong.input.focus();
    const call = read(operation, fields, schemes, body);
    curl.textContent = call.curl;
    shown.textContent = "…";
    answer.hidden = false;
    send.disabled = true;
    try {
      const response = await fetch(call.url, {
        method: operation.method, headers: call.headers, body: call.body, credentials: "omit", cache: "no-store",
      });
      shown.textContent = await describe(response);
    } catch (problem) {
      shown.textContent = `No answer: ${problem.message}`;
    }
    send.disabled = false;
  });
  return [
    element("p", {}, "This calls the service for real. Credentials stay in this page, and are gone when you leave it."),
    ...keys,
    ...fields.map(({ parameter, input }) => labelled(`${parameter.name}${parameter.required ? "" : " (optional)"}`, input)),
    ...(body ? [labelled(`Body (${operation.type})`, body)] : []),
    send, answer,
  ];
}

function share(name, value) {
  credentials[name] = value;
  for (const input of document.querySelectorAll(`[data-credential=${name}]`)) input.value = value;
}

function read(operation, fields, schemes, body) {
  let path = operation.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const { parameter, input } of fields) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value && parameter.in === "query") query.append(parameter.name, input.value);
    else if (input.value) headers[parameter.name] = input.value;
  }
  const target = path + (query.size ? `?${query}` : "");
  if (operation.type) headers["Content-Type"] = operation.type;
  const lines = [`curl -i -X ${operation.method} "$URL"${quote(target)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  for (const { header, before, name } of schemes) {
    if (!credentials[name]) continue;
    headers[header] = before + credentials[name];
    lines.push(`-H "${header}: ${before}$${name}"`);
  }
  if (body) lines.push(`--data-raw ${quote(body.value)}`);
  return { url: new URL(target.slice(1), base), headers, body: body?.value, curl: lines.join(" \\\n  ") };
}

async function describe(response) {
  const text = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  let written = text;
  try {
    const value = JSON.parse(text);
    if (value?.access_token) share("TOKEN", value.access_token);
    written = JSON.stringify(value, null, 2);
  } catch { /* no JSON */ }
  return [`${response.status} ${response.statusText}`, ...headers, "", written.slice(0, 100_000)].join("\n");
}

for (const section of document.querySelectorAll(".operation")) {
  const frame = element("details", { className: "try" }, element("summary", {}, "Try it"));
  frame.addEventListener("toggle", async () => {
    if (!frame.open || frame.dataset.built) return;
    frame.dataset.built = "yes";
    loading ??= fetch(new URL("openapi.json", base)).then((response) => response.json());
    const root = await loading;
    frame.append(...build(root, find(root, section.getAttribute("aria-labelledby"))));
  });
  section.querySelector(".samples").prepend(frame);
}
