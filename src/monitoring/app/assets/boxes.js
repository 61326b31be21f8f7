// Finds monitors to tick by their names while one types. What is ticked stays in sight.
for (const search of document.querySelectorAll("[data-finds]")) {
  const [told, offered] = [search.nextElementSibling, search.nextElementSibling.nextElementSibling];
  const [labels, all] = [[...offered.children], told.textContent];
  search.hidden = false;
  search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    const found = new Set(labels.filter((label) => label.textContent.toLowerCase().includes(words)));
    for (const label of labels) label.hidden = !found.has(label) && !label.control.checked;
    told.textContent = words ? `${found.size} found` : all;
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // would send the form
  });
}
