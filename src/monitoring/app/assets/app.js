// Every page is whole without this: it offers to copy, dismisses notices, takes two clicks on a button for one, has
// the service judge forms, and mends "Back".
const sentAt = new WeakMap();

// Pages write times in the reader's zone, which only the browser knows. The page where one signs in tells it already.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const root = new URL("..", document.currentScript.src).pathname;
const secure = location.protocol === "https:" ? "; secure" : "";
const isTold = () => document.cookie.split("; ").includes(`zone=${zone}`);
const wasTold = isTold();
if (zone) document.cookie = `zone=${zone}; path=${root}; max-age=34560000; samesite=lax${secure}`;

document.addEventListener("submit", (event) => {
  const now = Date.now();
  // No event tells that sending was broken off: the form may be sent again after a while.
  if (now - sentAt.get(event.target) < 3000) event.preventDefault();
  else sentAt.set(event.target, now);
});

// The service tells everything that is wrong with a form, a browser only the first of it. A date that is typed in half
// would be sent as an empty one: this sends it as one that the service refuses.
for (const form of document.forms) form.noValidate = true;
document.addEventListener("formdata", ({ target, formData }) => {
  for (const { name, validity } of target.elements) if (validity.badInput) formData.set(name, "incomplete");
});

// The answer to a form cannot be asked for again: coming back to it leads to the page it belongs to.
const { place } = document.documentElement.dataset;
if (place) history.replaceState(null, "", place);
// Whoever comes by the link of a message has told no zone yet, or another: the page is written anew, in theirs.
else if (!wasTold && zone !== "UTC" && isTold() && document.querySelector("time")) location.reload();

// A notice stays until it is dismissed, because nobody knows how fast it is read. The focus must not be lost with it.
document.querySelector(".dismiss")?.addEventListener("click", ({ target }) => {
  target.parentElement.remove();
  document.getElementById("content").focus();
});

// A row that slides begins with what is chosen in it.
for (const chosen of document.querySelectorAll(".slides > [aria-current]"))
  chosen.parentElement.scrollLeft = chosen.offsetLeft - (innerWidth - chosen.offsetWidth) / 2;

// Who comes back finds the page as it was left, its script too.
addEventListener("pageshow", () => document.querySelectorAll("form").forEach((form) => sentAt.delete(form)));

// Browsers have a clipboard for HTTPS and for their own machine; elsewhere the text is selected by hand.
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copies]") : []) {
  const [word, spoken] = [button.firstChild, button.nextElementSibling];
  const say = (text, aloud) => ([word.data, spoken.textContent] = [text, aloud]);
  button.hidden = false;
  button.addEventListener("click", async () => {
    const copied = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(copied.textContent.trim());
      say("Copied", "Copied");
    } catch {
      getSelection().selectAllChildren(copied);
      spoken.classList.remove("unseen");
      say("Copy", "Your browser does not let this page copy. The text is selected: copy it yourself.");
    }
    button.addEventListener("blur", () => say("Copy", ""), { once: true });
  });
}
