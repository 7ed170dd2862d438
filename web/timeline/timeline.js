// The timeline under the player: lanes on a canvas, the playhead on another, and the same by keyboard.
import { AppElement, define } from "../app/element.js";
import { clock, number } from "../app/format.js";
import { followed, framed, held, panned, timeAt, whole, xOf, zoomed } from "./camera.js";
import { shapesOfRows } from "./density.js";
import { draw } from "./draw.js";
import { AXIS, hit, itemAt, layout, neighbour } from "./hit.js";
import { lanesOf } from "./lanes.js";
import { drawMinimap, minimapActs } from "./minimap.js";
import { pointerActs } from "./pointer.js";
import { spoken, view } from "./view.js";
import { wallTime } from "./wall.js";

/** @typedef {import("./lanes.js").Row} Row */
/** @typedef {import("../api/types.js").Timeline} Timeline */
/** @typedef {import("../player/storyboard.js").Tile} Tile */

/** Lanes that a phone shows at first. */
const ON_PHONES = ["evidence", "events", "recording"];

/** Fires `seek` ({ms, play, end}) and `window` ([from, until]), in ms. */
export class AvaTimeline extends AppElement {
  static properties = {
    timeline: { attribute: false }, duration: { attribute: false }, indexedUntil: { attribute: false },
    evidence: { attribute: false }, summaries: { attribute: false }, pinned: { attribute: false },
    stretches: { attribute: false }, clip: { attribute: false }, isWall: { state: true }, isWhole: { state: true },
    tip: { state: true }, lane: { state: true }, selected: { state: true },
  };

  constructor() {
    super();
    /** @type {Timeline | null} */
    this.timeline = null;
    this.duration = 0;
    this.indexedUntil = 0;
    /** @type {import("../api/types.js").Evidence[]} */
    this.evidence = [];
    /** @type {Map<string, string>} */
    this.summaries = new Map();
    /** @type {{name: string, spans: {start: number, end: number}[]}[]} */
    this.pinned = [];
    /** @type {import("./wall.js").Stretch[]} */
    this.stretches = [];
    /** @type {[number, number] | null} */
    this.clip = null;
    this.isWall = false;
    this.isWhole = matchMedia("(min-width: 761px)").matches;
    /** @type {(ms: number) => Tile | undefined} */
    this.tileAt = () => undefined;
    /** @type {{x: number, y: number, words: string, tile?: Tile | undefined} | null} */
    this.tip = null;
    this.lane = 0;
    /** @type {{row: number, item: number} | null} */
    this.selected = null;
    this.camera = { t0: 0, perPx: 0 };
    this.width = 0;
    this.time = 0;
    /** What is drawn of each row. @type {import("./density.js").Shapes[]} */
    this.drawn = [];
    this.shown = [0, 0]; // times that were drawn last
    this.said = "";
    /** @type {Row[]} */
    this.rows = [];
    this.drawing = 0;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.onchange = () => this.plan();
    this.sized = new ResizeObserver(() => this.resize());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sized.disconnect();
    cancelAnimationFrame(this.drawing);
  }

  get stage() {
    return { width: this.width, duration: Math.max(1, this.duration) };
  }

  firstUpdated() {
    const stage = /** @type {HTMLElement} */ (this.querySelector(".tl-stage"));
    this.sized.observe(stage);
    pointerActs(stage, this);
    minimapActs(/** @type {HTMLCanvasElement} */ (this.querySelector(".tl-map")), this);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (["timeline", "evidence", "summaries", "pinned", "isWhole"].some((name) => changed.has(name)) && this.timeline) {
      const all = lanesOf(this.timeline, this);
      this.rows = this.isWhole ? all : all.filter((row) => ON_PHONES.some((name) => row.id.startsWith(name)));
      this.lane = Math.min(this.lane, this.rows.length - 1);
      if (changed.has("evidence")) this.selected = null;
    }
    if (changed.has("duration") && this.width)
      this.camera = held(this.camera.perPx ? this.camera : whole(this.stage), this.stage);
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.size === 1 && changed.has("tip")) return; // the pointer moves over the lanes
    this.fit();
    this.plan();
  }

  resize() {
    const stage = /** @type {HTMLElement} */ (this.querySelector(".tl-stage"));
    const wasWhole = !this.width || Math.abs(this.camera.perPx - whole(this.stage).perPx) < 1e-6;
    this.width = Math.floor(stage.clientWidth);
    if (!this.width) return;
    this.camera = wasWhole ? whole(this.stage) : held(this.camera, this.stage);
    this.fit();
    this.plan();
  }

  /** Give the canvases their size in pixels of the screen. */
  fit() {
    const { height } = layout(this.rows);
    const ratio = devicePixelRatio || 1;
    for (const canvas of /** @type {NodeListOf<HTMLCanvasElement>} */ (this.querySelectorAll(".tl-stage canvas"))) {
      if (canvas.width !== this.width * ratio || canvas.height !== height * ratio) {
        [canvas.width, canvas.height] = [this.width * ratio, height * ratio];
        canvas.style.height = `${height}px`;
        canvas.getContext("2d")?.scale(ratio, ratio);
      }
    }
  }

  /** Draw in the next frame, once. */
  plan() {
    if (this.drawing || !this.width) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      const pen = /** @type {HTMLCanvasElement} */ (this.querySelector(".tl-lanes")).getContext("2d");
      if (!pen) return;
      this.drawn = shapesOfRows(this.rows, this.camera, this.width);
      draw(pen, {
        ...this.stage,
        drawn: this.drawn,
        camera: this.camera,
        rows: this.rows,
        indexedUntil: this.indexedUntil,
        lane: this.lane,
        selected: this.selected,
        dark: this.dark.matches,
        at: (ms) => this.words(ms),
        clip: this.clip,
      });
      const [from, until] = [this.camera.t0, timeAt(this.camera, this.width)];
      if (from !== this.shown[0] || until !== this.shown[1])
        this.dispatchEvent(new CustomEvent("window", { detail: (this.shown = [from, until]) }));
      drawMinimap(/** @type {HTMLCanvasElement} */ (this.querySelector(".tl-map")), this);
      this.drawHead();
    });
  }

  /** The playhead has a canvas of its own, so that playing draws no lane again. */
  drawHead() {
    const canvas = /** @type {HTMLCanvasElement | null} */ (this.querySelector(".tl-head"));
    const pen = canvas?.getContext("2d");
    if (!canvas || !pen) return;
    pen.clearRect(0, 0, this.width, canvas.height);
    const x = xOf(this.camera, this.time);
    pen.fillStyle = getComputedStyle(canvas).getPropertyValue("--playhead");
    pen.fillRect(x - 0.75, 0, 1.5, canvas.height);
    pen.beginPath();
    pen.arc(x, 4, 4, 0, 7);
    pen.fill();
  }

  /** The player is at this time. @param {number} ms */
  setTime(ms) {
    const camera = followed(this.camera, this.time, ms, this.stage);
    this.time = ms;
    if (camera !== this.camera) this.look(camera);
    else this.drawHead();
    const [stage, second] = [this.querySelector(".tl-stage"), String(Math.round(ms / 1000))];
    if (this.said === (this.said = `${second} ${this.lane} ${this.rows.length}`)) return;
    stage?.setAttribute("aria-valuenow", second);
    stage?.setAttribute("aria-valuetext", spoken(this, ms));
  }

  /** A time in words: of the video, or on the wall. @param {number} ms */
  words(ms) {
    return (this.isWall && wallTime(this.stretches, ms)) || clock(ms);
  }

  /** @param {import("./camera.js").Camera} camera */
  look(camera) {
    this.camera = camera;
    this.plan();
  }

  /** @param {number} factor @param {number} [x] */
  zoom(factor, x = Math.min(this.width, Math.max(0, xOf(this.camera, this.time)))) {
    this.look(zoomed(this.camera, x, factor, this.stage));
  }

  showAll() {
    this.look(whole(this.stage));
  }

  showSelected() {
    const { start, end } = this.rows[this.selected?.row ?? -1]?.items ?? {};
    const item = this.selected?.item ?? -1;
    if (start && end) this.look(framed(Number(start[item]), Number(end[item]), this.stage));
  }

  /** @param {number} px */
  pan(px) {
    this.look(panned(this.camera, px, this.stage));
  }

  /** @param {number} ms @param {boolean} [play] @param {number | null} [end] */
  seek(ms, play = false, end = null) {
    const time = Math.max(0, Math.min(this.duration, ms));
    this.dispatchEvent(new CustomEvent("seek", { detail: { ms: time, play, end } }));
    this.setTime(time);
  }

  /** Choose an item and go to its start. @param {number} row @param {number} item @param {boolean} [play] */
  choose(row, item, play = false) {
    const items = this.rows[row]?.items;
    if (!items || item < 0 || item >= items.start.length) return;
    this.selected = { row, item };
    this.lane = row;
    this.seek(Number(items.start[item]), play, play ? Number(items.end[item]) : null);
  }

  /** Go to the next or previous item of the chosen lane, or of all rows of a lane. @param {1 | -1} step @param {string} [lane] */
  step(step, lane = this.rows[this.lane]?.id ?? "") {
    const near = this.rows.flatMap(({ id, items }, row) => {
      const item = id.startsWith(lane) ? neighbour(items, this.time, step) : -1;
      return item < 0 ? [] : [{ row, item, start: Number(items.start[item]) }];
    });
    const [next] = near.sort((a, b) => step * (a.start - b.start));
    if (next) this.choose(next.row, next.item);
  }

  /** @param {1 | -1} step */
  changeLane(step) {
    this.lane = Math.max(0, Math.min(this.rows.length - 1, this.lane + step));
  }

  playSelected() {
    const items = this.rows[this.lane]?.items;
    if (this.selected) this.choose(this.selected.row, this.selected.item, true);
    else if (items) this.choose(this.lane, itemAt(items, this.time + 1), true);
  }

  /** Show what lies under a point, or nothing. @param {number} x @param {number} y */
  point(x, y) {
    const found = hit(this.rows, this.drawn, x, y);
    const time = timeAt(this.camera, x);
    const row = found && this.rows[found.row];
    const { start = [], end = [], label = [] } = row?.items ?? {};
    const [n, count] = [found?.item ?? -1, found?.count ?? 1];
    const what = count > 1 ? `${row?.name}: ${number(count)}` : `–${clock(end[n])} ${label[n] || row?.name}`;
    const words = found ? `${clock(start[n])}${count > 1 ? ` ${what}` : what}` : this.words(time);
    const tile = this.tileAt(time); // asked for at once, since they are read then
    this.tip = { x, y, words, tile: y < AXIS ? tile : undefined };
    return found;
  }

  render() {
    return view(this);
  }
}

define("ava-timeline", AvaTimeline);
