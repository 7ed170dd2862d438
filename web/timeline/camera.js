// Which time lies at which pixel: `x = (time - t0) / perPx`, in doubles. No DOM, so Node runs it as well.

/** Milliseconds of a pixel at the nearest look. */
export const FINEST = 10;
const POINTS = 2_048; // of a window
const JUMP_MS = 2_000; // by which playing does not move at once

/** @typedef {{t0: number, perPx: number}} Camera t0: ms at the left edge. perPx: ms of a pixel */
/** @typedef {{width: number, duration: number}} Stage width: px. duration: ms */

/** @param {Camera} camera @param {number} time */
export const xOf = (camera, time) => (time - camera.t0) / camera.perPx;
/** @param {Camera} camera @param {number} x */
export const timeAt = (camera, x) => camera.t0 + x * camera.perPx;

/** Show everything. @param {Stage} stage @returns {Camera} */
export const whole = ({ width, duration }) => ({ t0: 0, perPx: Math.max(1, duration) / Math.max(1, width) });

/** Return the camera nearest to this one that shows no time outside the video. @param {Camera} camera @param {Stage} stage @returns {Camera} */
export function held(camera, stage) {
  const widest = whole(stage).perPx;
  const perPx = Math.min(widest, Math.max(Math.min(FINEST, widest), camera.perPx));
  const last = Math.max(0, stage.duration - stage.width * perPx);
  return { t0: Math.min(last, Math.max(0, camera.t0)), perPx };
}

/** Zoom so that the time at x stays there, as far as the video reaches. @param {Camera} camera @param {number} x @param {number} factor below 1 for nearer @param {Stage} stage */
export function zoomed(camera, x, factor, stage) {
  const widest = whole(stage).perPx;
  const perPx = Math.min(widest, Math.max(Math.min(FINEST, widest), camera.perPx * factor));
  return held({ t0: timeAt(camera, x) - x * perPx, perPx }, stage);
}

/** @param {Camera} camera @param {number} px to the right @param {Stage} stage */
export const panned = (camera, px, stage) => held({ t0: camera.t0 - px * camera.perPx, perPx: camera.perPx }, stage);

/** Show a span with a margin of a tenth on each side. @param {number} start @param {number} end @param {Stage} stage */
export function framed(start, end, stage) {
  const perPx = (Math.max(1, end - start) * 1.2) / stage.width;
  const held_ = held({ t0: 0, perPx }, stage);
  return held({ t0: (start + end) / 2 - (held_.perPx * stage.width) / 2, perPx: held_.perPx }, stage);
}

/** Keep the playhead in sight: move by a page when it leaves the window or jumps, but not while somebody looks elsewhere. @param {Camera} camera @param {number} before @param {number} time @param {Stage} stage */
export function followed(camera, before, time, stage) {
  const isSeen = (/** @type {number} */ ms) => xOf(camera, ms) >= 0 && xOf(camera, ms) <= stage.width;
  if (isSeen(time) || (!isSeen(before) && Math.abs(time - before) < JUMP_MS)) return camera;
  return held({ t0: time - stage.width * camera.perPx * 0.1, perPx: camera.perPx }, stage);
}

/** Return the part to be read for a window: a screen more on each side, and the same part for windows nearby. @param {number} start @param {number} end ms */
export function windowOf(start, end) {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1_024, end - start)));
  const from = (Math.floor(start / length) - 1) * length;
  return { from: Math.max(0, from), until: from + 4 * length, resolution: length / POINTS };
}

const STEPS = [
  100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5,
];

/** Return the times of the marks of the axis, at least `apart` px from each other. @param {Camera} camera @param {number} width @param {number} [apart] */
export function ticks(camera, width, apart = 90) {
  const step = STEPS.find((each) => each / camera.perPx >= apart) ?? 864e5;
  const marks = [];
  const until = timeAt(camera, width);
  for (let time = Math.ceil(camera.t0 / step) * step; time <= until; time += step) marks.push(time);
  return { step, marks };
}
