// What is drawn of the items of a row: rectangles where they are wide enough, else how many there are. No DOM.
import { timeAt, xOf } from "./camera.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {{start: number[], end: number[]}} Spans sorted by start */
/** @typedef {{rects: {n: number, x: number, w: number}[], bins: {x: number, w: number, count: number}[]}} Shapes */

/** Width in px from which an item is drawn by itself. */
export const OWN_PX = 3;
/** Smallest bucket: a power of two of these milliseconds. */
const SMALLEST = 250;

/** Return the smallest bucket of at least these milliseconds. @param {number} ms */
export function bucketOf(ms) {
  let bucket = SMALLEST;
  while (bucket < ms) bucket *= 2;
  return bucket;
}

/** Return the left edge and the width at which an item is drawn. @param {Camera} camera @param {number} start @param {number} end */
export const boxOf = (camera, start, end) => ({
  x: xOf(camera, start),
  w: Math.max(OWN_PX, (end - start) / camera.perPx - 1),
});

/** Return the first item that may reach a time: items before it end earlier. @param {Spans} spans @param {number} time @param {number} longest ms of the longest item */
export function firstAt(spans, time, longest) {
  let [low, high] = [0, spans.start.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (spans.start[middle]) < time - longest) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Milliseconds of the longest item. @param {Spans} spans */
export function longestOf(spans) {
  let longest = 0;
  for (let n = 0; n < spans.start.length; n += 1)
    longest = Math.max(longest, Number(spans.end[n]) - Number(spans.start[n]));
  return longest;
}

/**
 * Return what is drawn of a row in a window: at most `most` shapes, each item in exactly one of them.
 * @param {Spans} spans @param {Camera} camera @param {number} width px @param {number} most @param {number} [longest] @returns {Shapes}
 */
export function shapesOf(spans, camera, width, most, longest = longestOf(spans)) {
  const until = timeAt(camera, width);
  /** @type {number[]} */
  const wide = [];
  /** @type {number[]} */
  const narrow = [];
  for (let n = firstAt(spans, camera.t0, longest); n < spans.start.length; n += 1) {
    const [start, end] = [Number(spans.start[n]), Number(spans.end[n])];
    if (start >= until) break;
    if (end <= camera.t0 && start < camera.t0) continue;
    ((end - start) / camera.perPx >= OWN_PX ? wide : narrow).push(n);
  }
  // Too many rectangles for the row: all of them are counted instead.
  if (wide.length > most / 2) narrow.push(...wide.splice(0));
  const bucket = bucketOf(Math.max(OWN_PX * camera.perPx, (width * camera.perPx) / (most / 2 - 2)));
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const n of narrow) {
    const place = Math.floor(Number(spans.start[n]) / bucket);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return {
    rects: wide.map((n) => ({ n, ...boxOf(camera, Number(spans.start[n]), Number(spans.end[n])) })),
    bins: [...counts].map(([place, count]) => ({
      x: xOf(camera, place * bucket),
      w: Math.max(1, bucket / camera.perPx - 0.5),
      count,
    })),
  };
}
