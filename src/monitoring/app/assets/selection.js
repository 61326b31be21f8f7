// Selects all monitors of a table at once. Without this, each is selected by itself, or all of the list.
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-all]")) return;
  for (const box of target.closest("table").querySelectorAll("[name=monitor]")) box.checked = target.checked;
});
