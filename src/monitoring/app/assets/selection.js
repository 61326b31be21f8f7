// Selects all monitors of a table at once. Without this, each is selected by itself, or all of the list.
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-all]")) return;
  for (const box of target.closest("table").querySelectorAll("[name=monitor]")) box.checked = target.checked;
});

// Enter adds the tag that is typed. Elsewhere it does nothing: without this, the list would forget the selection.
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Enter" && target.matches(".selecting input") && !(target.name === "new_tag" && target.value.trim()))
    event.preventDefault();
});
