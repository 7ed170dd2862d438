// The base of all elements: they draw into the page itself, so that one set of style sheets holds, and load what they show.
import { LitElement } from "lit";
import { problem, skeleton } from "./states.js";

/** An element without a shadow root. */
export class AppElement extends LitElement {
  createRenderRoot() {
    return this;
  }
}

/**
 * Something that an element loads and shows: its value, or why there is none.
 * @template T
 */
export class Resource {
  /** @param {import("lit").ReactiveControllerHost & Element} host @param {(signal: AbortSignal) => Promise<T>} load */
  constructor(host, load) {
    this.host = host;
    this.load = load;
    /** @type {T | undefined} */
    this.value = undefined;
    /** @type {unknown} */
    this.error = undefined;
    this.running = new AbortController();
  }

  /** Load again. The value that is there stays until another one arrives. @returns {Promise<T | undefined>} */
  async reload() {
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
