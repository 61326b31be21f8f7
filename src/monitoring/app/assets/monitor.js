// Tells what happened at the time that the pointer, the finger or the arrow keys chose: the day of a bar, or the window
// of a chart. Without this, bars tell their days under the pointer, and the same stands in lists and tables.
const picks = () => document.querySelectorAll(".pick");

function tell(pick) {
  const [picture, said] = [pick.previousElementSibling, pick.nextElementSibling];
  const points = pick.dataset.points?.split("\n") ?? [...picture.querySelectorAll("title")].map((day) => day.textContent);
  const words = points[pick.value];
  if (!words) return;
  pick.setAttribute("aria-valuetext", words);
  if (said.textContent !== words) said.textContent = words;
  const line = picture.querySelector(".chosen");
  const x = `${(100 * (Number(pick.value) + 0.5)) / points.length}%`;
  for (const end of ["x1", "x2"]) line?.setAttribute(end, x);
  line?.toggleAttribute("hidden", pick.value === pick.max); // the newest is told without being chosen
}

document.addEventListener("input", ({ target }) => target.matches(".pick") && tell(target));
document.addEventListener("pointermove", ({ target, offsetX }) => {
  if (!target.matches?.(".pick")) return;
  target.value = Math.floor((offsetX / target.clientWidth) * (Number(target.max) + 1));
  tell(target);
});

// A renewed page says what the newest day was; whoever looks at another one goes on with that.
new MutationObserver(() => picks().forEach(tell)).observe(document.querySelector("[data-live].parts"), {
  characterData: true,
  childList: true,
  subtree: true,
});
picks().forEach(tell);
