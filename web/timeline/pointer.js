// The pointer on the lanes: a click chooses or seeks, a drag moves or scrubs, wheel and pinch zoom.
import { timeAt } from "./camera.js";
import { AXIS } from "./hit.js";

const STILL = 4; // px that a click may move
const SEEK_MS = 250;

/** @param {HTMLElement} stage @param {import("./timeline.js").AvaTimeline} timeline */
export function pointerActs(stage, timeline) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  let isScrubbing = false;
  let sought = 0;
  const at = (/** @type {PointerEvent | WheelEvent} */ event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = ([one, two] = [...down.values()]) => (one && two ? Math.abs(one.x - two.x) : 0);
  const seek = (/** @type {number} */ x) => timeline.seek(timeAt(timeline.camera, x));

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    const point = at(event);
    down.set(event.pointerId, point);
    moved = 0;
    isScrubbing = point.y < AXIS && down.size === 1;
    if (isScrubbing) seek(point.x);
  });
  stage.addEventListener("pointermove", (event) => {
    const point = at(event);
    const before = down.get(event.pointerId);
    if (!before) return void timeline.point(point.x, point.y);
    const wide = spread();
    down.set(event.pointerId, point);
    moved += Math.abs(point.x - before.x) + Math.abs(point.y - before.y);
    if (down.size === 2 && wide) timeline.zoom(wide / Math.max(1, spread()), point.x);
    else if (isScrubbing) {
      timeline.point(point.x, 0);
      timeline.setTime(Math.max(0, Math.min(timeline.duration, timeAt(timeline.camera, point.x))));
      if (performance.now() - sought < SEEK_MS) return;
      sought = performance.now();
      seek(point.x);
    } else if (moved > STILL) timeline.pan(point.x - before.x);
  });
  const ended = (/** @type {PointerEvent} */ event) => {
    const point = at(event);
    if (!down.delete(event.pointerId)) return;
    if (isScrubbing) seek(point.x);
    else if (moved <= STILL && event.type === "pointerup") {
      const found = timeline.point(point.x, point.y);
      if (found) timeline.choose(found.row, found.item, true);
      else seek(point.x);
    }
    isScrubbing = false;
  };
  stage.addEventListener("pointerup", ended);
  stage.addEventListener("pointercancel", ended);
  stage.addEventListener("pointerleave", () => {
    if (!down.size) timeline.tip = null;
  });
  stage.addEventListener(
    "wheel",
    (event) => {
      const isZoom = event.ctrlKey || event.metaKey;
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (!isZoom && !sideways) return;
      event.preventDefault();
      if (isZoom) timeline.zoom(Math.exp(event.deltaY * 0.004), at(event).x);
      else timeline.pan(-sideways);
    },
    { passive: false },
  );
}
