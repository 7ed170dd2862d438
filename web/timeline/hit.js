// What lies under a point of the lanes, and which item comes next. No DOM.
import { timeAt } from "./camera.js";
import { boxOf, firstAt, OWN_PX } from "./density.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./lanes.js").Row} Row */

export const GAP = 3;
export const AXIS = 22;

/** Return the top of each row, and the height of all. @param {Row[]} rows */
export function layout(rows) {
  let y = AXIS;
  const tops = rows.map((row) => {
    const top = y;
    y += row.height + GAP;
    return top;
  });
  return { tops, height: y + GAP };
}

/** Return the row at a height; -1 for none. @param {Row[]} rows @param {number} y */
export function rowAt(rows, y) {
  const { tops } = layout(rows);
  return rows.findIndex(
    (row, n) => y >= /** @type {number} */ (tops[n]) && y < /** @type {number} */ (tops[n]) + row.height,
  );
}

/** Return the item that is drawn at a point, the last one if several are. @param {Row[]} rows @param {Camera} camera @param {number} x @param {number} y */
export function hit(rows, camera, x, y) {
  const place = rowAt(rows, y);
  const row = rows[place];
  if (!row) return null;
  const { items } = row;
  let found = -1;
  // An item is drawn at least OWN_PX wide, so one that ended a little earlier may lie here.
  for (let n = firstAt(items, timeAt(camera, x - OWN_PX), items.longest); n < items.start.length; n += 1) {
    const box = boxOf(camera, Number(items.start[n]), Number(items.end[n]));
    if (box.x > x) break;
    if (x < box.x + box.w) found = n;
  }
  return found < 0 ? null : { row: place, item: found };
}

/** Return the next or previous item of a row from a time; -1 for none. @param {import("./lanes.js").Items} items @param {number} time @param {1 | -1} step */
export function neighbour(items, time, step) {
  if (step > 0) return items.start.findIndex((start) => start > time + 1);
  for (let n = items.start.length - 1; n >= 0; n -= 1) if (Number(items.start[n]) < time - 1) return n;
  return -1;
}

/** Return the item of a row at a time: the last that has begun; -1 before the first. @param {import("./lanes.js").Items} items @param {number} time */
export function itemAt(items, time) {
  let [low, high] = [0, items.start.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(items.start[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
