// The keyboard of the player. A key works on the whole page, but not where something else takes it.
const STEP = 5, JUMP = 10; // seconds
const TYPED = "input:not([type=range]), select, textarea, [contenteditable], dialog[open], [role=menu]";
const PRESSED = "a, button, summary, [role=button], [role^=menuitem]";

/** Listen to the keys. moments: returns the links to the moments of the page, in their order. signal: ends it. */
export function listen(root, video, moments, signal) {
  const controller = root.querySelector("media-controller");
  const help = root.querySelector("dialog");
  const ask = (what) => controller.dispatchEvent(new CustomEvent(what, { composed: true, bubbles: true }));
  const by = (seconds) => { video.currentTime = Math.min(Math.max(0, video.currentTime + seconds), video.duration || 0); };
  const rate = (by) => { video.playbackRate = Math.min(4, Math.max(0.25, video.playbackRate + by)); };
  const pause = () => { if (video.paused) video.play().catch(() => {}); else video.pause(); };
  const step = (by) => {
    const links = moments(), at = links.findIndex((link) => link.getAttribute("aria-current"));
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : (at + by + links.length) % links.length]?.click();
  };
  const keys = {
    " ": pause, k: pause, j: () => by(-JUMP), l: () => by(JUMP), ArrowLeft: () => by(-STEP), ArrowRight: () => by(STEP),
    Home: () => { video.currentTime = 0; }, End: () => { video.currentTime = video.duration || 0; },
    f: () => ask(document.fullscreenElement ? "mediaexitfullscreenrequest" : "mediaenterfullscreenrequest"),
    c: () => ask("mediatogglesubtitlesrequest"), m: () => { video.muted = !video.muted; },
    "<": () => rate(-0.25), ">": () => rate(0.25), n: () => step(1), p: () => step(-1),
    r: () => root.querySelector("[data-repeat]").click(), "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const path = event.composedPath().filter((one) => one.matches);
    const isOn = (selector) => path.some((one) => one.matches(selector));
    if (isOn(TYPED) || (event.key === " " && isOn(PRESSED))) return;
    if (event.key.length > 1 && isOn("[type=range], media-time-range, media-volume-range")) return;
    const act = keys[event.key.length > 1 ? event.key : event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }, { signal });
  root.querySelector("[data-help]").addEventListener("click", () => help.showModal());
}
