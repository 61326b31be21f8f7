// Shows what a search finds while it is typed: the form's address becomes that of the page, and the page renews
// itself (`live.js`). Without this, the button of the form does the same.
const AFTER_TYPING_MS = 200;
const search = document.querySelector("[data-searches]");
let typing;

function find() {
  clearTimeout(typing);
  const given = [...new FormData(search)].filter(([, text]) => text.trim());
  const address = `${search.action}?${new URLSearchParams(given)}`;
  if (address === location.href) return;
  history.replaceState(null, "", address);
  renew();
}

search?.addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(find, event.target.type === "search" ? AFTER_TYPING_MS : 0);
});
search?.addEventListener("submit", (event) => {
  event.preventDefault();
  find();
});
