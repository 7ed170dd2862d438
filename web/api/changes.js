// What has changed at the service: one stream per tab, or a look every few seconds where streams do not last.
import { linked } from "./client.js";

/** @typedef {{kind: string, id: string | null}} Ring one thing that has changed; without an id any of its kind may have */

/** Kind and scope of each topic. @type {[string, string, string][]} */
const TOPICS = [
  ["videos", "video", "videos:read"],
  ["collections", "collection", "videos:read"],
  ["questions", "question", "questions:read"],
];
const FAILURES = 3;
const POLL_MS = 5_000;

/** Fires `changed` with a Ring. */
class Changes extends EventTarget {
  constructor() {
    super();
    /** @type {string[]} */
    this.topics = [];
    /** @type {EventSource | undefined} */
    this.stream = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retry = undefined;
    this.failures = 0;
    this.isBehind = false;
    // Browsers open six connections to a host in all tabs together, where it does not speak HTTP/2.
    document.addEventListener("visibilitychange", () => {
      this.isBehind = true;
      if (document.hidden) this.close();
      else this.open();
    });
  }

  /** Follow the tenant of this page. @param {(scope: string) => boolean} may */
  follow(may) {
    this.topics = TOPICS.filter(([, , scope]) => may(scope)).map(([topic]) => topic);
    this.open();
  }

  close() {
    this.stream?.close();
    clearTimeout(this.retry);
  }

  open() {
    this.close();
    if (!this.topics.length || document.hidden) return;
    const stream = new EventSource(linked("/stream", { topics: this.topics.join(",") }));
    this.stream = stream;
    stream.addEventListener("open", () => {
      this.failures = 0;
      if (this.isBehind) this.ringAll();
      this.isBehind = false;
    });
    stream.addEventListener("changed", (event) => this.ring(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      this.isBehind = true;
      this.failures += 1;
      if (this.failures < FAILURES && stream.readyState !== EventSource.CLOSED) return;
      this.close();
      this.ringAll();
      this.retry = setTimeout(() => this.open(), POLL_MS);
    });
  }

  /** @param {Ring} ring */
  ring(ring) {
    this.dispatchEvent(new CustomEvent("changed", { detail: ring }));
  }

  /** Ring for everything, because changes may have been missed. */
  ringAll() {
    for (const [, kind] of TOPICS) this.ring({ kind, id: null });
  }
}

export const changes = new Changes();
