// The whole video above the lanes, with the window that the lanes show as a frame to move and to resize.
import { held, timeAt, whole, xOf } from "./camera.js";
import { shapesOf } from "./density.js";

const HANDLE = 7;
const MOST = 300;

/** @param {HTMLCanvasElement} canvas @param {import("./timeline.js").AvaTimeline} timeline */
export function drawMinimap(canvas, timeline) {
  const pen = canvas.getContext("2d");
  const width = canvas.clientWidth;
  if (!pen || !width) return;
  const [height, ratio] = [26, devicePixelRatio || 1];
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const all = whole({ width, duration: timeline.stage.duration });
  const rows = timeline.rows.filter((row) => row.id === "events" || row.id.startsWith("evidence"));
  for (const row of rows) {
    const { rects, bins } = shapesOf(row.items, all, width, MOST);
    const isEvidence = row.id !== "events";
    pen.fillStyle = style.getPropertyValue(isEvidence ? "--accent" : "--field");
    pen.globalAlpha = isEvidence ? 1 : 0.5;
    for (const { x, w } of rects) pen.fillRect(x, isEvidence ? 3 : 10, Math.max(1, w), isEvidence ? 5 : 8);
    const top = bins.reduce((most, bin) => Math.max(most, bin.count), 1);
    for (const { x, w, count } of bins) pen.fillRect(x, 18 - 8 * (count / top), w, 8 * (count / top));
  }
  pen.globalAlpha = 1;
  const [from, until] = edges(timeline, width);
  pen.fillStyle = style.getPropertyValue("--accent");
  pen.globalAlpha = 0.12;
  pen.fillRect(from, 0, until - from, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = style.getPropertyValue("--accent");
  pen.strokeRect(from + 0.5, 0.5, Math.max(3, until - from - 1), height - 1);
  pen.fillStyle = style.getPropertyValue("--playhead");
  pen.fillRect(xOf(all, timeline.time), 0, 1.5, height);
}

/** Return the pixels between which the window lies. @param {import("./timeline.js").AvaTimeline} timeline @param {number} width @returns {[number, number]} */
function edges(timeline, width) {
  const all = whole({ width, duration: timeline.stage.duration });
  return [xOf(all, timeline.camera.t0), xOf(all, timeAt(timeline.camera, timeline.width))];
}

/** Move and resize the frame by dragging. @param {HTMLCanvasElement} canvas @param {import("./timeline.js").AvaTimeline} timeline */
export function minimapActs(canvas, timeline) {
  /** @type {{part: "all" | "left" | "right", offset: number} | null} */
  let held_ = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [from, until] = edges(timeline, canvas.clientWidth);
    const x = event.offsetX;
    if (Math.abs(x - from) < HANDLE && until - from > 3 * HANDLE) held_ = { part: "left", offset: 0 };
    else if (Math.abs(x - until) < HANDLE && until - from > 3 * HANDLE) held_ = { part: "right", offset: 0 };
    else held_ = { part: "all", offset: x >= from && x <= until ? x - from : (until - from) / 2 };
    move(x);
  });
  canvas.addEventListener("pointermove", (event) => move(event.offsetX));
  for (const name of ["pointerup", "pointercancel"])
    canvas.addEventListener(name, () => {
      held_ = null;
    });

  function move(/** @type {number} */ x) {
    if (!held_) return;
    const all = whole({ width: canvas.clientWidth, duration: timeline.stage.duration });
    const { camera, stage } = timeline;
    const end = timeAt(camera, stage.width);
    const at = timeAt(all, x - held_.offset);
    if (held_.part === "all") timeline.look(held({ t0: at, perPx: camera.perPx }, stage));
    else if (held_.part === "left") timeline.look(held({ t0: at, perPx: Math.max(1, end - at) / stage.width }, stage));
    else timeline.look(held({ t0: camera.t0, perPx: Math.max(1, at - camera.t0) / stage.width }, stage));
  }
}
