// The lanes of a video's timeline, top down, out of what the API says. No DOM.
import { merged, rowsOf } from "./packing.js";

/** @typedef {import("../api/types.js").Timeline} Timeline */
/** @typedef {import("../api/types.js").Evidence} Evidence */
/** @typedef {{start: number[], end: number[], label: string[], id: string[], status?: string[], levels: Map<number, import("./density.js").Level>}} Items sorted by start */
/** @typedef {{id: string, name: string, hue: number, items: Items, height: number}} Row a lane has one row or more */
/** @typedef {{start: number, end: number, label?: string, id?: string, status?: string}} Item */

const MOST_CATEGORIES = 6;
/** Hues that differ enough in both themes. */
export const HUES = [222, 152, 28, 282, 190, 340, 48, 110, 252, 8, 170, 312];

/** Return the hue of a name: always the same one. @param {string} name */
export function hueOf(name) {
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ /** @type {number} */ (letter.codePointAt(0)), 0x01000193);
  hash = (hash ^ (hash >>> 15)) >>> 0;
  return /** @type {number} */ (HUES[hash % HUES.length]);
}

/** @param {Item[]} list @returns {Items} */
export function itemsOf(list) {
  const sorted = [...list].sort((a, b) => a.start - b.start);
  return {
    start: sorted.map((each) => each.start),
    end: sorted.map((each) => each.end),
    label: sorted.map((each) => each.label ?? ""),
    id: sorted.map((each) => each.id ?? ""),
    status: sorted.map((each) => each.status ?? ""),
    levels: new Map(),
  };
}

/** @param {{start_ms: number[], end_ms: number[]}} lane @param {(n: number) => Partial<Item>} [more] @returns {Item[]} */
const zipped = (lane, more = () => ({})) =>
  lane.start_ms.map((start, n) => ({ start, end: /** @type {number} */ (lane.end_ms[n]), ...more(n) }));

/**
 * @param {Timeline} timeline
 * @param {{evidence?: Evidence[], summaries?: Map<string, string>, pinned?: {name: string, spans: {start: number, end: number}[]}[]}} [more]
 * @returns {Row[]}
 */
export function lanesOf(timeline, { evidence = [], summaries = new Map(), pinned = [] } = {}) {
  /** @type {Row[]} */
  const rows = [];
  const add = (
    /** @type {string} */ id,
    /** @type {string} */ name,
    /** @type {number} */ hue,
    /** @type {Item[]} */ list,
    height = 20,
  ) => {
    rows.push({ id, name, hue, items: itemsOf(list), height });
  };
  if (evidence.length) {
    const pins = evidence
      .map((each, n) => ({
        start: each.start_ms,
        end: each.end_ms,
        label: String(n + 1),
        id: each.event_id,
        status: each.status,
      }))
      .sort((a, b) => a.start - b.start);
    const places = rowsOf(pins);
    for (let row = 0; row < Math.min(3, Math.max(...places) + 1); row += 1) {
      add(
        row ? `evidence-${row}` : "evidence",
        row ? "" : "Evidence",
        222,
        pins.filter((_, n) => Math.min(2, places[n] ?? 0) === row),
        22,
      );
    }
  }
  if (timeline.topics.start_ms.length)
    add(
      "topics",
      "Topics",
      252,
      zipped(timeline.topics, (n) => ({ label: timeline.topics.title[n] })),
      24,
    );
  add(
    "events",
    "Events",
    222,
    zipped(timeline.events, (n) => {
      const id = timeline.events.id[n] ?? "";
      return { id, label: summaries.get(id) ?? "" };
    }),
    24,
  );
  if (timeline.speech.start_ms.length) add("speech", "Speech", 152, zipped(timeline.speech), 16);
  for (const [category, spans] of categories(timeline))
    add(
      `objects:${category}`,
      category,
      hueOf(category),
      spans.map((span) => ({ ...span, label: category })),
      14,
    );
  for (const entity of pinned) add(`entity:${entity.name}`, entity.name, hueOf(entity.name), entity.spans, 14);
  add(
    "recording",
    "Gaps",
    8,
    zipped(timeline.gaps, (n) => ({ label: timeline.gaps.code[n] })),
    14,
  );
  return rows;
}

/** Return the categories of objects with their spans, the most frequent first; those beyond the sixth are one. @param {Timeline} timeline */
function categories({ objects }) {
  /** @type {Map<string, {start: number, end: number}[]>} */
  const found = new Map();
  objects.category.forEach((category, n) => {
    const spans = found.get(category) ?? [];
    spans.push({ start: Number(objects.start_ms[n]), end: Number(objects.end_ms[n]) });
    found.set(category, spans);
  });
  const sorted = [...found].sort((a, b) => b[1].length - a[1].length);
  if (sorted.length <= MOST_CATEGORIES) return sorted;
  const others = merged(sorted.slice(MOST_CATEGORIES - 1).flatMap(([, spans]) => spans));
  return /** @type {[string, {start: number, end: number}[]][]} */ ([
    ...sorted.slice(0, MOST_CATEGORIES - 1),
    ["Others", others],
  ]);
}
