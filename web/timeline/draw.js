// The lanes on a canvas. What a row shows is counted in density.js.
import { clock } from "../app/format.js";
import { t } from "../app/language.js";
import { ticks, timeAt, xOf } from "./camera.js";
import { AXIS, layout } from "./hit.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./lanes.js").Row} Row */
/** @typedef {{camera: Camera, width: number, rows: Row[], duration: number, indexedUntil: number, lane: number, selected: {row: number, item: number} | null,
 *   dark: boolean, at: (ms: number) => string, clip: [number, number] | null, drawn: import("./density.js").Shapes[]}} Scene */

const NAMELESS_PX = 620; // below which the names of lanes have no room beside them

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene */
export function draw(pen, scene) {
  const { width, rows, drawn } = scene;
  const { tops, height } = layout(rows);
  const style = getComputedStyle(pen.canvas);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  drawAxis(pen, scene, height, colour);
  rows.forEach((row, place) => {
    const y = /** @type {number} */ (tops[place]);
    pen.fillStyle = place === scene.lane ? colour("--hover") : colour("--lane");
    pen.fillRect(0, y, width, row.height);
    const { rects, bins } = /** @type {import("./density.js").Shapes} */ (drawn[place]);
    const top = bins.reduce((most, bin) => Math.max(most, bin.count), 1);
    for (const bin of bins) {
      const share = 0.25 + 0.75 * (bin.count / top);
      pen.fillStyle = painted(pen, row.hue, scene.dark, 0.85, row.pattern);
      pen.fillRect(bin.x, y + row.height * (1 - share), bin.w, row.height * share);
    }
    for (const { n, x, w } of rects) {
      const isChosen = scene.selected?.row === place && scene.selected.item === n;
      const left = Math.max(-1, x);
      const shown = Math.min(width + 1, x + w) - left;
      const status = STATUS[row.items.status[n] ?? ""];
      const [hue, pattern] = status ?? [row.hue, row.pattern];
      pen.fillStyle = painted(pen, hue, scene.dark, isChosen ? 1 : status ? 0.8 : 0.62, pattern);
      rounded(pen, left, y, shown, row.height);
      if (isChosen) {
        pen.strokeStyle = colour("--text");
        pen.lineWidth = 1.5;
        pen.stroke();
      }
      const label = row.items.label[n];
      if (label && (label !== row.name || scene.width < NAMELESS_PX) && row.id !== "recording" && shown > 22 && row.height >= 14) {
        pen.fillStyle = scene.dark ? "#f2f4f8" : "#14171c";
        pen.save();
        pen.beginPath();
        pen.rect(left, y, shown - 3, row.height);
        pen.clip();
        pen.fillText(label, left + 5, y + row.height / 2 + 0.5);
        pen.restore();
      }
    }
  });
  drawEdges(pen, scene, height, colour);
}

/** @param {number} hue @param {boolean} dark @param {number} strength */
const fill = (hue, dark, strength) =>
  dark ? `hsl(${hue} 48% ${28 + 22 * strength}% / 1)` : `hsl(${hue} 72% ${92 - 24 * strength}%)`;

/** Hues and patterns of evidence. @type {Record<string, [number, number]>} */
const STATUS = { supported: [145, 0], contradicted: [4, 2], unverified: [222, 5] };
/** Lines of the patterns in a tile of 8 px. */
const LINES = ["", "M-2 2 2-2M0 8 8 0M6 10 10 6", "M-2 6 2 10M0 0 8 8M6-2 10 2", "M0 4H8", "M4 0V8", "M3 4H5"];
/** @type {Map<string, CanvasPattern | null>} */
const paints = new Map();

/** Return a colour with a pattern over it. @param {CanvasRenderingContext2D} pen @param {string} ground @param {string} ink @param {number} pattern 0 for none */
function paint(pen, ground, ink, pattern) {
  if (!pattern) return ground;
  const name = [ground, ink, pattern].join();
  const tile = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
  const brush = paints.has(name) ? null : tile.getContext("2d");
  if (brush) {
    [brush.fillStyle, brush.strokeStyle, brush.lineWidth] = [ground, ink, 1.5];
    brush.fillRect(0, 0, 8, 8);
    brush.stroke(new Path2D(LINES[pattern % LINES.length]));
    paints.set(name, pen.createPattern(tile, "repeat"));
  }
  return paints.get(name) ?? ground;
}

/** @param {CanvasRenderingContext2D} pen @param {number} hue @param {boolean} dark @param {number} strength @param {number} pattern */
const painted = (pen, hue, dark, strength, pattern) =>
  paint(pen, fill(hue, dark, strength), fill(hue, dark, dark ? strength - 0.5 : strength + 0.6), pattern);

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} h */
function rounded(pen, x, y, w, h) {
  pen.beginPath();
  if (w < 6) pen.rect(x, y, w, h);
  else pen.roundRect(x, y, w, h, 3);
  pen.fill();
}

/** @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} height @param {(name: string) => string} colour */
function drawAxis(pen, { camera, width, at }, height, colour) {
  const { marks } = ticks(camera, width);
  pen.strokeStyle = colour("--lane-rule");
  pen.fillStyle = colour("--muted");
  pen.lineWidth = 1;
  pen.beginPath();
  for (const time of marks) {
    const x = Math.round(xOf(camera, time)) + 0.5;
    pen.moveTo(x, AXIS - 6);
    pen.lineTo(x, height);
    pen.fillText(at(time), x + 4, 9);
  }
  pen.stroke();
}

/** What is not indexed yet, and the two ends of a clip. @param {CanvasRenderingContext2D} pen @param {Scene} scene @param {number} height @param {(name: string) => string} colour */
function drawEdges(pen, scene, height, colour) {
  const { camera, width, indexedUntil, duration, clip } = scene;
  if (indexedUntil < duration && timeAt(camera, width) > indexedUntil) {
    const x = Math.max(0, xOf(camera, indexedUntil));
    const w = Math.min(width, xOf(camera, duration)) - x;
    pen.fillStyle = paint(pen, colour("--sunken"), colour("--rule"), 1);
    pen.globalAlpha = 0.82;
    pen.fillRect(x, AXIS, w, height - AXIS);
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--muted");
    if (w > 90) pen.fillText(t("Not indexed yet from {time}", { time: clock(indexedUntil) }), x + 8, AXIS + 12);
  }
  if (clip) {
    const [from, until] = [xOf(camera, clip[0]), xOf(camera, clip[1])];
    pen.fillStyle = colour("--accent");
    pen.globalAlpha = 0.12;
    pen.fillRect(from, AXIS, until - from, height - AXIS);
    pen.globalAlpha = 1;
    pen.fillRect(from - 1, AXIS, 2, height - AXIS);
    pen.fillRect(until - 1, AXIS, 2, height - AXIS);
  }
}
