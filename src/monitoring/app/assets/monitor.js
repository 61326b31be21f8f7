// Tells what happened on the day that the pointer, the finger or the arrow keys chose. Without this, the bars show
// their days under the pointer, and the days with time down are listed.
const picks = () => document.querySelectorAll(".pick");

function tell(pick) {
  const [picture, said] = [pick.previousElementSibling, pick.nextElementSibling];
  const words = picture.querySelectorAll("rect")[pick.value]?.textContent.trim();
  if (!words) return;
  pick.setAttribute("aria-valuetext", words);
  if (said.textContent !== words) said.textContent = words;
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
