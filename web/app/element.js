// The base of all elements: they draw into the page itself, so that one set of style sheets holds, and load what they show.
import { LitElement } from "lit";
import { changes } from "../api/changes.js";
import { problem, skeleton } from "./states.js";

const PAUSE_MS = 1_000;

/** An element without a shadow root. */
export class AppElement extends LitElement {
  createRenderRoot() {
    return this;
  }
}

/**
 * Something that an element loads and shows: its value, or why there is none. It loads again when it changes.
 * @template T
 */
export class Resource {
  /**
   * @param {{requestUpdate: () => void}} host @param {(signal: AbortSignal) => Promise<T>} load
   * @param {string} [kind] of the things shown; "" if they do not change @param {() => string} [id] of the only one
   */
  constructor(host, load, kind = "", id) {
    this.host = host;
    this.load = load;
    this.changed = (/** @type {Event} */ event) => {
      /** @type {import("../api/changes.js").Ring} */
      const ring = /** @type {CustomEvent} */ (event).detail;
      if (ring.kind === kind && (!id || !ring.id || ring.id === id())) void this.refresh();
    };
    this.isStale = this.isShown = false;
    /** @type {Promise<unknown>} */
    this.settled = Promise.resolve();
    /** @type {T | undefined} */
    this.value = undefined;
    /** @type {unknown} */
    this.error = undefined;
    this.running = new AbortController();
  }

  /** Load again. The value that is there stays until another one arrives. @returns {Promise<T | undefined>} */
  reload() {
    changes.addEventListener("changed", this.changed);
    this.isShown = true;
    const loading = this.fetch();
    this.settled = loading.then(() => new Promise((done) => setTimeout(done, PAUSE_MS)));
    return loading;
  }

  /** Load again because of a change, after the load that is under way and a pause. */
  async refresh() {
    if (this.isStale) return;
    this.isStale = true;
    await this.settled;
    this.isStale = false;
    if (this.isShown) await this.reload();
  }

  /** @returns {Promise<T | undefined>} */
  async fetch() {
    this.running.abort();
    const { signal } = (this.running = new AbortController());
    try {
      const value = await this.load(signal);
      if (signal.aborted) return undefined;
      [this.value, this.error] = [value, undefined];
    } catch (error) {
      if (signal.aborted) return undefined;
      this.error = error;
    }
    this.host.requestUpdate();
    return this.value;
  }

  /** Stop, because the element is gone. */
  stop() {
    changes.removeEventListener("changed", this.changed);
    this.isShown = false;
    this.running.abort();
  }

  /**
   * Draw the value by a function, or what stands in its place.
   * @param {(value: T) => unknown} draw @param {unknown} [waiting] the layout while it loads
   */
  show(draw, waiting = skeleton()) {
    if (this.value !== undefined) return draw(this.value);
    return this.error ? problem(this.error, () => this.again()) : waiting;
  }

  again() {
    this.error = undefined;
    this.host.requestUpdate();
    void this.reload();
  }
}

/** Name an element, once. @param {string} name @param {CustomElementConstructor} kind */
export function define(name, kind) {
  if (!customElements.get(name)) customElements.define(name, kind);
}
