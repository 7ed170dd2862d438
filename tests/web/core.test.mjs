// The parts of the web app that need no browser. tests/web/test_core.py runs them by `node --test`.
import assert from "node:assert/strict";
import { IntlMessageFormat } from "intl-messageformat";
import { test } from "node:test";
import { ending, moreEffort } from "../../web/ask/words.js";
import { bytes, clock, lasting, readClock } from "../../web/app/format.js";
import { fitting, t } from "../../web/app/language.js";
import { marked, translation } from "../../web/app/pseudo.js";
import { followed, framed, held, panned, ticks, timeAt, whole, windowOf, xOf, zoomed } from "../../web/timeline/camera.js";
import { SHAPES, bucketOf, levelOf, shapesOfRows } from "../../web/timeline/density.js";
import { AXIS, hit, itemAt, layout, neighbour } from "../../web/timeline/hit.js";
import { itemsOf, lanesOf, spliced } from "../../web/timeline/lanes.js";
import { merged, rowsOf } from "../../web/timeline/packing.js";
import { wallTime } from "../../web/timeline/wall.js";
import { Speed, isSame, pauseBefore, quarter, range, typeOf } from "../../web/upload/core.js";
import { read } from "../../web/app/router.js";

const HOUR = 3_600_000;

/** A generator of numbers between 0 and 1 that gives the same ones each time. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function someSpans(next, count, duration, longest) {
  return itemsOf(Array.from({ length: count }, () => {
    const start = Math.floor(next() * duration);
    return { start, end: Math.min(duration, start + 1 + Math.floor(next() * longest)) };
  }));
}

test("zooming keeps the time under the pointer, as far as the video reaches", () => {
  const next = numbers(1);
  for (let n = 0; n < 500; n += 1) {
    const stage = { width: 300 + Math.floor(next() * 1_500), duration: 30_000 + next() * 48 * HOUR };
    const start = zoomed(whole(stage), stage.width / 2, 0.05 + next() * 0.2, stage);
    const camera = held({ t0: next() * stage.duration, perPx: start.perPx }, stage);
    const x = next() * stage.width;
    const before = timeAt(camera, x);
    const after = zoomed(camera, x, 0.3 + next(), stage);
    const isHeld = after.t0 > 0 && after.t0 + stage.width * after.perPx < stage.duration - 1;
    if (isHeld) assert.ok(Math.abs(timeAt(after, x) - before) < 1, `${before} moved`);
    assert.ok(after.t0 >= 0 && after.t0 + stage.width * after.perPx <= stage.duration + 1);
  }
});

test("the last second of 48 hours can be reached", () => {
  const stage = { width: 900, duration: 48 * HOUR };
  let camera = zoomed(whole(stage), 900, 1e-9, stage);
  camera = panned(camera, -1e12, stage);
  assert.ok(Math.abs(timeAt(camera, 900) - 48 * HOUR) < 1);
  assert.ok(camera.perPx <= 10);
});

test("the window follows the playhead, but not while somebody looks elsewhere", () => {
  const stage = { width: 1_000, duration: HOUR };
  const camera = { t0: 600_000, perPx: 10 };
  assert.equal(followed(camera, 605_000, 606_000, stage), camera);
  assert.equal(followed(camera, 609_990, 610_010, stage).t0, 609_010);
  assert.equal(followed(camera, 20_000, 20_040, stage), camera);
  assert.equal(followed(camera, 20_000, 900_000, stage).t0, 899_000);
});

test("a span is framed with a margin on both sides, and the axis has marks that stand apart", () => {
  const stage = { width: 1_000, duration: HOUR };
  const camera = framed(600_000, 700_000, stage);
  assert.ok(xOf(camera, 600_000) > 50 && xOf(camera, 700_000) < 950);
  const { step, marks } = ticks(camera, 1_000);
  assert.ok(marks.length > 3 && step / camera.perPx >= 90);
});

test("each level of the density has every item once, as short or as long", () => {
  const next = numbers(2);
  for (let n = 0; n < 40; n += 1) {
    const spans = someSpans(next, 1 + Math.floor(next() * 3_000), HOUR * (0.1 + next() * 48), 200_000 * next());
    for (let bucket = 250, before = -1; bucket < 1e6; bucket *= 2) {
      const { narrow, wide } = levelOf(spans, bucket);
      assert.deepEqual([...narrow, ...wide].sort((a, b) => a - b), spans.start.map((_, k) => k));
      assert.ok(narrow.every((k) => spans.end[k] - spans.start[k] < bucket));
      assert.ok(narrow.length >= before);
      before = narrow.length;
    }
  }
  assert.equal(bucketOf(1), 250);
  assert.equal(bucketOf(2_500), 4_000);
});

test("each item of a window is in exactly one shape, and there are no more shapes than allowed", () => {
  const next = numbers(7);
  for (let n = 0; n < 60; n += 1) {
    const duration = HOUR * (1 + next() * 47);
    const rows = Array.from({ length: 1 + Math.floor(next() * 14) }, () => ({
      items: someSpans(next, 1 + Math.floor(next() * 4_000), duration, 10 ** (2 + next() * 4)),
    }));
    const stage = { width: 320 + Math.floor(next() * 1_600), duration };
    const camera = n % 3 ? zoomed(whole(stage), next() * stage.width, next() * 0.1, stage) : whole(stage);
    const drawn = shapesOfRows(rows, camera, stage.width);
    const until = timeAt(camera, stage.width);
    drawn.forEach(({ rects, bins, bucket }, place) => {
      const { start, end } = rows[place].items;
      const isWide = (k) => end[k] - start[k] >= bucket;
      const wide = start.map((_, k) => k).filter((k) => isWide(k) && start[k] < until && end[k] > camera.t0);
      assert.deepEqual(rects.map((rect) => rect.n), wide);
      const narrow = start.filter((at, k) => !isWide(k) && at < until && at >= Math.floor(camera.t0 / bucket) * bucket);
      const sum = bins.reduce((all, bin) => all + bin.count, 0);
      const beyond = start.filter((at, k) => !isWide(k) && at >= until && at < Math.ceil(until / bucket) * bucket);
      assert.ok(sum >= narrow.length && sum <= narrow.length + beyond.length, `${sum} of ${narrow.length} are drawn`);
      if (camera.t0 === 0 && until >= duration) assert.equal(sum + wide.length, start.length);
    });
    const shapes = drawn.reduce((sum, { rects, bins }) => sum + rects.length + bins.length, 0);
    assert.ok(shapes <= SHAPES, `${shapes} shapes of ${rows.length} rows`);
  }
});

test("a point hits an item exactly if a shape is drawn there, and the item is the one of that shape", () => {
  const next = numbers(3);
  for (let n = 0; n < 60; n += 1) {
    const duration = 10 ** (5 + next() * 3);
    const rows = Array.from({ length: 1 + Math.floor(next() * 6) }, (_, k) => ({
      id: `row-${k}`, height: 14 + k, items: someSpans(next, Math.floor(next() * 900), duration, 30_000),
    }));
    const stage = { width: 1_000, duration };
    const camera = zoomed(whole(stage), next() * 1_000, 0.02 + next(), stage);
    const drawn = shapesOfRows(rows, camera, stage.width);
    const { tops, height } = layout(rows);
    for (let k = 0; k < 300; k += 1) {
      const [x, y] = [next() * stage.width, AXIS + next() * height];
      const found = hit(rows, drawn, x, y);
      const place = rows.findIndex((row, at) => y >= tops[at] && y < tops[at] + row.height);
      const covers = (shape) => shape.x <= x && x < shape.x + shape.w;
      const { rects, bins, bucket } = drawn[place] ?? { rects: [], bins: [] };
      assert.equal(found !== null, [...rects, ...bins].some(covers));
      if (!found) continue;
      const [start, end] = [rows[found.row].items.start[found.item], rows[found.row].items.end[found.item]];
      const isCounted = end - start < bucket;
      const from = isCounted ? Math.floor(start / bucket) * bucket : start;
      const until = isCounted ? from + bucket : Math.max(end, start + 3 * camera.perPx);
      assert.equal(found.row, place);
      assert.ok(timeAt(camera, x) >= from - 1 && timeAt(camera, x) <= until + 1);
    }
    assert.equal(hit(rows, drawn, 10, height + 5), null);
  }
});

test("a lane that grew is what it would be at once, and details leave the rest as it was", () => {
  const next = numbers(5);
  const part = (lane, from, until) => {
    const seen = lane.start_ms.map((_, k) => k).filter((k) => lane.start_ms[k] < until && lane.end_ms[k] > from);
    return Object.fromEntries(Object.entries(lane).map(([name, values]) => [name, seen.map((k) => values[k])]));
  };
  const timesOf = ({ start_ms, end_ms }, from, until) => {
    const cut = merged(start_ms.map((start, k) => ({ start: Math.max(from, start), end: Math.min(until, end_ms[k]) })).filter((each) => each.end > each.start));
    return cut.map((each) => [each.start, each.end]);
  };
  for (let n = 0; n < 200; n += 1) {
    const { start, end } = someSpans(next, 80, 100_000, 9_000);
    const lane = { id: start.map((_, k) => `evt_${k}`), start_ms: start, end_ms: end };
    const [one, two] = [next() * 100_000, next() * 100_000];
    const grown = spliced(part(lane, 0, one), part(lane, one, Infinity), one, Infinity, false);
    assert.deepEqual(grown.id.toSorted(), lane.id.toSorted());
    const [from, until] = [Math.min(one, two), Math.max(one, two)];
    const fine = spliced(lane, { id: ["x"], start_ms: [from], end_ms: [until] }, from, until, true);
    assert.deepEqual(timesOf(fine, 0, from), timesOf(lane, 0, from));
    assert.deepEqual(timesOf(fine, until, 1e9), timesOf(lane, until, 1e9));
    assert.deepEqual(timesOf(fine, from, until), [[from, until]]);
  }
});

test("the part that is read for a window reaches a screen further, and is the same a little later", () => {
  const next = numbers(6);
  for (let n = 0; n < 500; n += 1) {
    const length = 10 ** (1 + next() * 6);
    const start = next() * 48 * HOUR;
    const { from, until, resolution } = windowOf(start, start + length);
    assert.ok(from <= Math.max(0, start - length) && until >= start + 2 * length);
    assert.ok(resolution <= Math.max(1, length / 1_000) && until - from <= 8 * Math.max(1_024, length));
    const place = Math.floor(start / 2_048) * 2_048;
    assert.deepEqual(windowOf(place, place + 1_500), windowOf(place + 500, place + 2_000));
  }
});

test("items of a row never cover each other", () => {
  const next = numbers(4);
  for (let n = 0; n < 200; n += 1) {
    const { start, end } = someSpans(next, 60, 100_000, 9_000);
    const spans = start.map((from, k) => ({ start: from, end: end[k] }));
    const rows = rowsOf(spans);
    for (let row = 0; row <= Math.max(...rows); row += 1) {
      const inRow = spans.filter((_, k) => rows[k] === row);
      for (let k = 1; k < inRow.length; k += 1) assert.ok(inRow[k - 1].end <= inRow[k].start);
    }
    const whole_ = merged(spans);
    for (let k = 1; k < whole_.length; k += 1) assert.ok(whole_[k - 1].end < whole_[k].start);
  }
});

test("the next and the previous item are found from a time", () => {
  const items = itemsOf([{ start: 0, end: 5 }, { start: 10_000, end: 12_000 }, { start: 30_000, end: 31_000 }]);
  assert.equal(neighbour(items, 10_000, 1), 2);
  assert.equal(neighbour(items, 10_000, -1), 0);
  assert.equal(neighbour(items, 40_000, 1), -1);
  assert.deepEqual([itemAt(items, -1), itemAt(items, 0), itemAt(items, 29_999), itemAt(items, 90_000)], [-1, 0, 1, 2]);
});

test("lanes come top down, and the seventh kind of object joins the others", () => {
  const kinds = ["a", "b", "c", "d", "e", "f", "g"];
  const timeline = {
    events: { start_ms: [0], end_ms: [5], id: ["evt_1"] }, topics: { start_ms: [0], end_ms: [9], title: ["All"] },
    speech: { start_ms: [], end_ms: [], track: [] }, gaps: { start_ms: [], end_ms: [], code: [] },
    objects: { start_ms: kinds.map((_, n) => n), end_ms: kinds.map((_, n) => n + 5), category: kinds },
  };
  const evidence = [{ start_ms: 0, end_ms: 4, event_id: "evt_1", status: "supported" }, { start_ms: 2, end_ms: 3, event_id: "evt_1", status: "unverified" }];
  const rows = lanesOf(timeline, { evidence });
  assert.deepEqual(rows.map((row) => row.id), ["evidence", "evidence-1", "topics", "events", ...kinds.slice(0, 5).map((kind) => `objects:${kind}`), "objects:Others", "recording"]);
  assert.deepEqual(rows.at(-2).items.start, [5]);
});

test("times are written and read", () => {
  assert.deepEqual([clock(0), clock(3_723_000), clock(65_000), clock(null)], ["0:00", "1:02:03", "1:05", "–"]);
  assert.deepEqual([readClock("1:02:03"), readClock("75"), readClock("2:5"), readClock("soon")], [3_723_000, 75_000, 125_000, null]);
  assert.deepEqual([lasting(400), lasting(93_000), lasting(7_260_000)], ["0 s", "1 min 33 s", "2 h 1 min"]);
  assert.deepEqual([bytes(0), bytes(1_234_567), bytes(20e9)], ["0 B", "1.2 MB", "20.0 GB"]);
});

test("the clock on the wall is that of the place of the camera", () => {
  const stretches = [{ start_ms: 0, end_ms: 60_000, start_at: "2026-05-01T09:00:00+02:00" }];
  assert.equal(wallTime(stretches, 30_500), "09:00:30");
  assert.equal(wallTime(stretches, 60_000), "");
});

test("an upload is cut into parts, taken up by its file, and told five times at most", () => {
  const size = 100 * 1024 ** 2 + 7;
  const parts = [1, 2, 3, 4, 5, 6, 7].map((n) => range(n, size, 16 * 1024 ** 2));
  assert.deepEqual(parts.at(-1), [96 * 1024 ** 2, size]);
  assert.ok(parts.every(([begin], n) => n === 0 || begin === parts[n - 1][1]));
  const record = { id: "upl_1", name: "a.mp4", size: 5, modified: 9, checked: true };
  assert.ok(isSame(record, { name: "a.mp4", size: 5, lastModified: 9 }));
  assert.ok(!isSame(record, { name: "a.mp4", size: 5, lastModified: 8 }));
  const told = [];
  for (let n = 0, before = 0; n <= 1_000; n += 1) {
    const reached = quarter(before, n / 1_000);
    if (reached) told.push(reached);
    if (reached) before = reached / 100;
  }
  assert.deepEqual(told, [25, 50, 75]); // with the start and the end five
  assert.deepEqual([1, 2, 3, 4, 5, 9].map(pauseBefore), [500, 1_000, 2_000, 4_000, 8_000, 8_000]);
  assert.equal(typeOf("a.MKV", ""), "video/x-matroska");
  const speed = new Speed();
  for (let ms = 0; ms <= 4_000; ms += 500) speed.note(ms, ms * 1_000);
  assert.equal(Math.round(speed.rate), 1_000_000);
});

test("an address names a page, and the tenant in it", () => {
  assert.deepEqual(read("/app/acme/videos/vid_1?t=5").params, { video: "vid_1" });
  assert.equal(read("/app/acme/videos/vid_1").page, "watch");
  assert.equal(read("/app/acme/settings/webhooks/whe_1").page, "deliveries");
  assert.deepEqual([read("/app/").tenant, read("/app/acme/nowhere").page], ["", "missing"]);
});

test("each end of a question is said in words", () => {
  const question = { status: "succeeded", finish_reason: "answered", finish_detail: null, error: null };
  assert.equal(ending(question), null);
  for (const reason of ["insufficient_evidence", "budget", "refused", "error", "canceled"]) {
    assert.ok(ending({ ...question, finish_reason: reason }).words.length > 20, reason);
  }
  assert.match(ending({ ...question, finish_detail: "unsupported" }).words, /Do not rely/);
  assert.deepEqual([moreEffort("low"), moreEffort("high")], ["medium", null]);
});

test("a sentence takes numbers and markup, and the language is the best that there is", () => {
  const videos = "{count, plural, one {# video} other {# videos}} of <b>{name}</b>";
  const b = (words) => words.join("").toUpperCase();
  assert.equal(t(videos, { count: 1, name: "acme", b }), "1 video of ACME");
  assert.deepEqual(t("Open {link}", { link: { markup: true } }), ["Open ", { markup: true }]);
  assert.deepEqual(fitting(["fr", "de-AT", "en"]), { language: "de", locale: "de-AT" });
  assert.deepEqual(fitting(["de", "en-GB", "de-CH"]), { language: "de", locale: "de-CH" });
  assert.deepEqual(fitting(["fr"]), { language: "en", locale: "en" });
});

test("the pseudo-locale leaves no plain letter of a sentence, and every value as it is", () => {
  const pseudo = (sentence, values) => new IntlMessageFormat(translation(sentence), "en-XA").format(values);
  const made = pseudo("{count, plural, one {# video} other {# videos}} of {name}", { count: 2_000, name: "acme" });
  assert.match(made, /^\[2,000 ṽîðéöš öƒ acme~+\]$/);
  assert.equal(marked("Nov 1"), "[Ñöṽ 1]");
});
