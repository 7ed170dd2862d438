// The lanes of a video's timeline, top down, out of what the API says. No DOM.
import { t } from "../app/language.js";
import { merged, rowsOf } from "./packing.js";

/** @typedef {import("../api/types.js").Timeline} Timeline */
/** @typedef {import("../api/types.js").Evidence} Evidence */
/** @typedef {{start: number[], end: number[], label: string[], id: string[], status: string[], levels: Map<number, import("./density.js").Level>}} Items sorted by start */
/** @typedef {{id: string, name: string, hue: number, pattern: number, items: Items, height: number}} Row a lane has one row or more; pattern: which one lies over its hue, for who cannot tell hues apart */
/** @typedef {{start: number, end: number, label?: string, id?: string, status?: string}} Item */

const MOST_CATEGORIES = 6;
/** Marks of the states of evidence, as in the answer. @type {Record<string, string>} */
const MARKS = { supported: "✓", contradicted: "✗", unverified: "?" };
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
  /** @type {(id: string, name: string, look: [number, number], list: Item[], height: number) => void} */
  const add = (id, name, [hue, pattern], list, height) =>
    void rows.push({ id, name, hue, pattern, items: itemsOf(list), height });
  const pins = evidence
    .map(({ start_ms, end_ms, event_id, status }, n) => {
      const label = `${n + 1} ${MARKS[status] ?? ""}`;
      return { start: start_ms, end: end_ms, label, id: event_id, status };
    })
    .sort((a, b) => a.start - b.start);
  const places = rowsOf(pins).map((place) => Math.min(2, place));
  for (let row = 0; row <= Math.max(-1, ...places); row += 1) {
    const inRow = pins.filter((_, n) => places[n] === row);
    add(row ? `evidence-${row}` : "evidence", row ? "" : t("Evidence"), [222, 0], inRow, 22);
  }
  const { topics, events, speech, gaps } = timeline;
  const words = (/** @type {string} */ id) => ({ id, label: summaries.get(id) ?? "" });
  if (topics.start_ms.length) add("topics", t("Topics"), [252, 0], zipped(topics, (n) => ({ label: topics.title[n] })), 24);
  add("events", t("Events"), [222, 0], zipped(events, (n) => words(events.id[n] ?? "")), 24);
  if (speech.start_ms.length) add("speech", t("Speech"), [152, 0], zipped(speech), 16);
  categories(timeline).forEach(([name, spans], n) => {
    const list = spans.map((span) => ({ ...span, label: name }));
    add(`objects:${name}`, name, [hueOf(name), n], list, 14);
  });
  for (const { name, spans } of pinned) add(`entity:${name}`, name, [hueOf(name), 0], spans, 14);
  add("recording", t("Gaps"), [8, 1], zipped(gaps, (n) => ({ label: gaps.code[n] })), 14);
  return rows;
}

/** Return a lane with other entries from one time to another. @template {{start_ms: number[], end_ms: number[]}} L @param {L} lane @param {L} fresh @param {number} from @param {number} until @param {boolean} cuts whether an entry that reaches over an edge is cut there, and not left out @returns {L} */
export function spliced(lane, fresh, from, until, cuts) {
  /** @type {[number, number, number][]} */
  const kept = [];
  lane.start_ms.forEach((start, n) => {
    const end = Number(lane.end_ms[n]);
    if (start < from && (cuts || end <= from)) kept.push([n, start, Math.min(end, from)]);
    if (cuts && end > until) kept.push([n, Math.max(start, until), end]);
  });
  const columns = Object.entries(lane).map(([name, values]) => {
    const place = ["", "start_ms", "end_ms"].indexOf(name);
    return [name, [...kept.map((row) => (place > 0 ? row[place] : values[row[0]])), .../** @type {any} */ (fresh)[name]]];
  });
  return Object.fromEntries(columns);
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
    [t("Others"), others],
  ]);
}
