// The keys of the watch page that the player does not have itself.
import { isWriting } from "../app/keys.js";

/** @typedef {{timeline: () => import("./timeline.js").AvaTimeline | null, video: () => HTMLVideoElement | null, clip: () => void, goTo: () => void,
 *   mark: (edge: "in" | "out") => void, repeat: () => void}} Acts */

const FRAME_S = 1 / 25;

/** Listen before the player does. @param {Acts} acts @param {AbortSignal} signal */
export function listen(acts, signal) {
  const by = (/** @type {number} */ seconds, stops = false) => {
    const video = acts.video();
    if (stops) video?.pause();
    if (video) video.currentTime = Math.max(0, Math.min(video.duration || Infinity, video.currentTime + seconds));
  };
  /** @type {Record<string, () => unknown>} */
  const keys = {
    ",": () => by(-FRAME_S, true),
    ".": () => by(FRAME_S, true),
    "[": () => acts.timeline()?.step(-1),
    "]": () => acts.timeline()?.step(1),
    e: () => acts.timeline()?.step(1, "evidence"),
    E: () => acts.timeline()?.step(-1, "evidence"),
    i: () => acts.mark("in"),
    o: () => acts.mark("out"),
    c: acts.clip,
    g: acts.goTo,
    b: acts.repeat,
    "+": () => acts.timeline()?.zoom(0.625),
    "=": () => acts.timeline()?.zoom(0.625),
    "-": () => acts.timeline()?.zoom(1.6),
    0: () => acts.timeline()?.showAll(),
    z: () => acts.timeline()?.showSelected(),
  };
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || document.querySelector("dialog[open]"))
        return;
      const shifted = event.shiftKey && { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const isOnLanes = event.composedPath().some((each) => each instanceof Element && each.matches(".tl-stage"));
      const lane =
        isOnLanes &&
        {
          ArrowUp: () => acts.timeline()?.changeLane(-1),
          ArrowDown: () => acts.timeline()?.changeLane(1),
          Enter: () => acts.timeline()?.playSelected(),
        }[event.key];
      const act = shifted ? () => by(shifted) : lane || keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    },
    { capture: true, signal },
  );
}
