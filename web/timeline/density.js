// What is drawn of the items of a row: rectangles where they are wide enough, else how many there are. No DOM.
import { timeAt, xOf } from "./camera.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./lanes.js").Items} Items */
/** @typedef {{narrow: number[], wide: number[], longest: number}} Level places of the items that are shorter than a bucket, and of all others */
/** @typedef {{n: number, x: number, w: number}} Rect one item */
/** @typedef {{n: number, x: number, w: number, count: number}} Bin several items; n is the first */
/** @typedef {{rects: Rect[], bins: Bin[], bucket: number}} Shapes bucket: ms of a bin */

/** Width in px from which an item is drawn by itself. */
export const OWN_PX = 3;
/** Largest number of shapes of all rows. */
export const SHAPES = 1_400;
/** Smallest bucket: a power of two of these milliseconds. */
const SMALLEST = 250;

/** Return the smallest bucket of at least these milliseconds. @param {number} ms */
export function bucketOf(ms) {
  let bucket = SMALLEST;
  while (bucket < ms) bucket *= 2;
  return bucket;
}

/** Return the place of the first value that is not smaller. @param {number} count @param {(n: number) => number} value rising @param {number} wanted @param {number} [from] @returns {number} */
export function firstOf(count, value, wanted, from = 0) {
  let [low, high] = [from, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the items by their lengths, for one size of buckets. Each lane makes a level once. @param {Items} items @param {number} bucket @returns {Level} */
export function levelOf(items, bucket) {
  let level = items.levels.get(bucket);
  if (!level) {
    level = { narrow: [], wide: [], longest: 0 };
    for (let n = 0; n < items.start.length; n += 1) {
      const length = Number(items.end[n]) - Number(items.start[n]);
      (length < bucket ? level.narrow : level.wide).push(n);
      level.longest = Math.max(level.longest, length);
    }
    items.levels.set(bucket, level);
  }
  return level;
}

/** Return what is drawn of a row in a window: at most `most` shapes. @param {Items} items @param {Camera} camera @param {number} width px @param {number} most @returns {Shapes} */
export function shapesOf(items, camera, width, most) {
  const until = timeAt(camera, width);
  const start = (/** @type {number} */ n) => Number(items.start[n]);
  let bucket = bucketOf(Math.max(OWN_PX * camera.perPx, (width * camera.perPx) / Math.max(1, most / 2 - 2)));
  let level = levelOf(items, bucket);
  let wide = reaching(items, level, camera.t0, until);
  // Too many rectangles for the row: the shorter ones are counted instead.
  for (; wide.length > most / 2; wide = reaching(items, level, camera.t0, until)) level = levelOf(items, (bucket *= 2));
  const { narrow } = level;
  /** @type {Bin[]} */
  const bins = [];
  const at = (/** @type {number} */ k) => start(/** @type {number} */ (narrow[k]));
  let k = firstOf(narrow.length, at, Math.floor(camera.t0 / bucket) * bucket);
  while (k < narrow.length && at(k) < until) {
    const begin = Math.floor(at(k) / bucket) * bucket;
    const next = firstOf(narrow.length, at, begin + bucket, k);
    const w = Math.max(1, bucket / camera.perPx - 0.5);
    bins.push({ n: /** @type {number} */ (narrow[k]), x: xOf(camera, begin), w, count: next - k });
    k = next;
  }
  const rects = wide.map((n) => ({
    n,
    x: xOf(camera, start(n)),
    w: Math.max(OWN_PX, (Number(items.end[n]) - start(n)) / camera.perPx - 1),
  }));
  return { rects, bins, bucket };
}

/** Return the wide items that overlap a window. @param {Items} items @param {Level} level @param {number} from @param {number} until */
function reaching(items, { wide, longest }, from, until) {
  const found = [];
  const start = (/** @type {number} */ k) => Number(items.start[/** @type {number} */ (wide[k])]);
  for (let k = firstOf(wide.length, start, from - longest); k < wide.length && start(k) < until; k += 1) {
    const n = /** @type {number} */ (wide[k]);
    if (Number(items.end[n]) > from || start(k) >= from) found.push(n);
  }
  return found;
}

/** Return what is drawn of each row. What a row leaves of its share the next ones may use. @param {{items: Items}[]} rows @param {Camera} camera @param {number} width */
export function shapesOfRows(rows, camera, width) {
  const share = SHAPES / Math.max(7, rows.length);
  let left = SHAPES;
  return rows.map(({ items }, place) => {
    const shapes = shapesOf(items, camera, width, Math.max(share, left - share * (rows.length - place - 1)));
    left -= shapes.rects.length + shapes.bins.length;
    return shapes;
  });
}
