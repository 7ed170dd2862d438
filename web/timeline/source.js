// What the timeline shows: the whole video coarsely, the window in detail, and what a growing video gains.
import { get } from "../api/client.js";
import { Resource } from "../app/element.js";
import { windowOf } from "./camera.js";
import { spliced } from "./lanes.js";

/** @typedef {import("../api/types.js").Timeline} Timeline */

const READ_EVENTS = 300; // events of a window up to which their words are read
const HEARD_MS = 2 ** 20; // of a part around the playhead whose events are read out
const SETTLED_MS = 150;

/** The timeline of a video. Tells its host when it has more. @extends {Resource<Timeline>} */
export class TimelineSource extends Resource {
  /** @param {{requestUpdate: () => void}} host @param {() => string} video */
  constructor(host, video) {
    super(host, (signal) => this.read(signal), "video", video);
    this.path = () => `/videos/${video()}/timeline`;
    /** What was read of parts, by their queries. @type {Map<string, Promise<Timeline | null>>} */
    this.parts = new Map();
    /** What events say, by their ids, as far as it was read. @type {Map<string, string>} */
    this.summaries = new Map();
    /** Times that are shown. */
    this.shown = { from: 0, until: 0 };
    /** The timeline with details of what is shown. @type {Timeline | undefined} */
    this.detailed = undefined;
    this.refined = ""; // part of which it has details
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.settling = undefined;
  }

  async fetch() {
    const before = this.value;
    await super.fetch();
    if (this.value !== before) [this.detailed, this.refined] = [this.value, ""];
    this.host.requestUpdate();
    void this.refine(); // also if the value is the same: what was being read was broken off
    return this.value;
  }

  /** Read the timeline; of a video that grows only what it has gained. @param {AbortSignal} signal @returns {Promise<Timeline>} */
  async read(signal) {
    const { value } = this;
    const from = value?.indexed_until_ms ?? Infinity;
    const isGrowing = value && from < (value.duration_ms ?? Infinity);
    const query = isGrowing ? { start_ms: from, resolution_ms: value.resolution_ms } : {};
    /** @type {Timeline} */
    const read = await get(this.path(), query, signal);
    for (const name of this.parts.keys()) if (!(JSON.parse(name).end_ms <= from)) this.parts.delete(name);
    if (!isGrowing) return read;
    if (read.index_version !== value.index_version) return get(this.path(), {}, signal);
    if (read.indexed_until_ms <= from) return value;
    const events = spliced(value.events, read.events, from, Infinity, false);
    const speech = spliced(value.speech, read.speech, from, Infinity, true);
    const objects = spliced(value.objects, read.objects, from, Infinity, true);
    return { ...read, events, speech, objects, gaps: spliced(value.gaps, read.gaps, from, Infinity, true) };
  }

  /** Read a part, once, and keep what its events say. @param {import("../api/client.js").Query} query @returns {Promise<Timeline | null>} null if that failed */
  async part(query) {
    const name = JSON.stringify(query);
    /** @type {Promise<Timeline | null>} */
    const read = this.parts.get(name) ?? get(this.path(), query, this.running.signal).catch(() => null);
    this.parts.set(name, read);
    const part = await read;
    if (!part) this.parts.delete(name);
    part?.events?.summary?.forEach((words, n) => this.summaries.set(part.events.id[n] ?? "", words));
    return part;
  }

  /** The timeline shows these times: read their details when it has come to rest. @param {number} from @param {number} until ms */
  look(from, until) {
    this.shown = { from, until };
    clearTimeout(this.settling);
    this.settling = setTimeout(() => void this.refine(), SETTLED_MS);
  }

  /** The playhead is read out here. @param {number} ms */
  hear(ms) {
    const start_ms = Math.floor(ms / HEARD_MS) * HEARD_MS;
    void this.part({ lanes: "events", include: "summaries", start_ms, end_ms: start_ms + HEARD_MS });
  }

  /** Show the window in detail, where that says more than the whole video does. */
  async refine() {
    const { value, shown } = this;
    if (!value || !shown.until) return;
    const { from, until, resolution } = windowOf(shown.from, shown.until);
    const seen = value.events.start_ms.filter((at) => at >= from && at < until).length;
    const finer = resolution < value.resolution_ms / 2 ? ["speech", "objects"] : [];
    const lanes = [...finer, ...(seen && seen <= READ_EVENTS ? ["events"] : [])].join();
    const name = `${lanes} ${from} ${until}`;
    if (!lanes || name === this.refined) return;
    const query = { lanes, start_ms: from, end_ms: until, resolution_ms: resolution, include: "summaries" };
    const part = await this.part(query);
    if (!part || value !== this.value || shown !== this.shown) return;
    [this.detailed, this.refined] = [{ ...value }, name];
    if (finer.length) {
      this.detailed.speech = spliced(value.speech, part.speech, from, until, true);
      this.detailed.objects = spliced(value.objects, part.objects, from, until, true);
    }
    this.host.requestUpdate();
  }
}
