// The lanes on a canvas. What a row shows is counted in density.js.
import { clock } from "../app/format.js";
import { ticks, timeAt, xOf } from "./camera.js";
import { AXIS, layout } from "./hit.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./lanes.js").Row} Row */
/** @typedef {{camera: Camera, width: number, rows: Row[], duration: number, indexedUntil: number, lane: number, selected: {row: number, item: number} | null,
 *   dark: boolean, at: (ms: number) => string, clip: [number, number] | null, drawn: import("./density.js").Shapes[]}} Scene */

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
      pen.fillStyle = fill(row.hue, scene.dark, 0.85);
      pen.fillRect(bin.x, y + row.height * (1 - share), bin.w, row.height * share);
    }
    for (const { n, x, w } of rects) {
      const isChosen = scene.selected?.row === place && scene.selected.item === n;
      const left = Math.max(-1, x);
      const shown = Math.min(width + 1, x + w) - left;
      pen.fillStyle = row.id.startsWith("evidence")
        ? statusFill(row.items.status?.[n] ?? "", scene.dark)
        : fill(row.hue, scene.dark, isChosen ? 1 : 0.62);
      rounded(pen, left, y, shown, row.height);
      if (row.id === "recording") hatch(pen, left, y, shown, row.height, colour("--lane"));
      if (isChosen) {
        pen.strokeStyle = colour("--text");
        pen.lineWidth = 1.5;
        pen.stroke();
      }
      const label = row.items.label[n];
      if (label && label !== row.name && row.id !== "recording" && shown > 22 && row.height >= 14) {
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

/** @param {string} status @param {boolean} dark */
const statusFill = (status, dark) => fill({ supported: 145, contradicted: 4 }[status] ?? 222, dark, 0.8);

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} h */
function rounded(pen, x, y, w, h) {
  pen.beginPath();
  if (w < 6) pen.rect(x, y, w, h);
  else pen.roundRect(x, y, w, h, 3);
  pen.fill();
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} h @param {string} colour */
function hatch(pen, x, y, w, h, colour) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.beginPath();
  for (let at = x - h; at < x + w; at += 7) {
    pen.moveTo(at, y + h);
    pen.lineTo(at + h, y);
  }
  pen.stroke();
  pen.restore();
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
    pen.fillStyle = colour("--sunken");
    pen.globalAlpha = 0.82;
    pen.fillRect(x, AXIS, w, height - AXIS);
    pen.globalAlpha = 1;
    hatch(pen, x, AXIS, w, height - AXIS, colour("--rule"));
    pen.fillStyle = colour("--muted");
    if (w > 90) pen.fillText(`Not indexed yet from ${clock(indexedUntil)}`, x + 8, AXIS + 12);
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
