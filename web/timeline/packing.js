// Items in rows, so that none covers another. No DOM.

/** @typedef {{start: number, end: number}} Span */

/** Return the row of each item, in the order of their starts: the first row that is free. @param {Span[]} spans sorted by start @returns {number[]} */
export function rowsOf(spans) {
  /** @type {number[]} */
  const ends = [];
  return spans.map(({ start, end }) => {
    const free = ends.findIndex((until) => until <= start);
    const row = free < 0 ? ends.length : free;
    ends[row] = Math.max(end, start + 1);
    return row;
  });
}

/** Return spans that cover the same time and do not overlap. @param {Span[]} spans @returns {Span[]} */
export function merged(spans) {
  /** @type {Span[]} */
  const whole = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = whole.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else whole.push({ start, end });
  }
  return whole;
}
