// What lies under a point of the lanes, and which item comes next. No DOM.
import { firstOf } from "./density.js";

/** @typedef {import("./density.js").Shapes} Shapes */
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

/**
 * Return the item that is drawn at a point, the last one if several are; of a bar the first, and how many it counts.
 * @param {Row[]} rows @param {Shapes[]} drawn of each row @param {number} x @param {number} y
 */
export function hit(rows, drawn, x, y) {
  const row = rowAt(rows, y);
  const covers = (/** @type {{x: number, w: number}} */ shape) => shape.x <= x && x < shape.x + shape.w;
  const rect = drawn[row]?.rects.findLast(covers);
  const bin = rect ? undefined : drawn[row]?.bins.find(covers);
  const item = (rect ?? bin)?.n;
  return item === undefined ? null : { row, item, count: bin?.count ?? 1 };
}

/** Return the next or previous item of a row from a time; -1 for none. @param {import("./lanes.js").Items} items @param {number} time @param {1 | -1} step */
export const neighbour = ({ start }, time, step) =>
  step > 0 ? start.findIndex((at) => at > time + 1) : start.findLastIndex((at) => at < time - 1);

/** Return the item of a row at a time: the last that has begun; -1 before the first. @param {import("./lanes.js").Items} items @param {number} time */
export const itemAt = (items, time) => firstOf(items.start.length, (n) => Number(items.start[n]), Math.floor(time) + 1) - 1;
