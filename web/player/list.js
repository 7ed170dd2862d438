// A list of moments that is read page by page, filtered by words, and follows the player.
import { html, nothing } from "lit";
import { get } from "../api/client.js";
import { AppElement } from "../app/element.js";
import { number } from "../app/format.js";
import { t } from "../app/language.js";
import { problem, skeleton } from "../app/states.js";

const PAGE = 100;
/** Number of rows up to which words filter what is loaded. */
const LOADED_FILTER = 2_000;
const TYPED_MS = 300;

/** A panel of the watch page. Its row kinds say where the rows are, and how one is drawn. @template Row */
export class MomentList extends AppElement {
  static properties = {
    video: { attribute: false }, version: { attribute: false }, words: { state: true }, rows: { state: true },
  };

  /** @param {string} path of the list below the video @param {string} placeholder @param {boolean} [follows] whether the list scrolls with the player */
  constructor(path, placeholder, follows = false) {
    super();
    this.path = path;
    this.placeholder = placeholder;
    this.follows = follows;
    /** @type {import("../api/types.js").Video | null} */
    this.video = null;
    /** Changes when the index has grown. */
    this.version = "";
    this.words = "";
    /** @type {Row[]} */
    this.rows = [];
    this.cursor = "";
    /** @type {unknown} */
    this.error = null;
    this.isLoaded = false;
    this.isLoading = false;
    this.asked = ""; // words that the loaded rows were asked for with
    this.time = 0;
    this.stop = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined;
    this.lastScroll = -Infinity;
    /** The row that the player is at. @type {Element | null} */
    this.now = null;
    this.seen = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) void this.more();
    });
  }

  /** @param {Row} _row @returns {unknown} */
  draw(_row) {
    return nothing;
  }

  /** @param {Row} _row @returns {string} */
  textOf(_row) {
    return "";
  }

  /** What is said where there are no rows. @returns {unknown} */
  none() {
    return nothing;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.more();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop.abort();
    this.seen.disconnect();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.get("version") && this.isLoaded) void this.grow();
  }

  updated() {
    const end = this.querySelector("[data-end]");
    this.seen.disconnect();
    if (end) this.seen.observe(end);
  }

  /** @param {string} cursor */
  ask(cursor) {
    return get(`/videos/${this.video?.id}/${this.path}`, { limit: PAGE, cursor, q: this.asked }, this.stop.signal);
  }

  /** Read the next page. */
  async more() {
    if (this.isLoading || !this.video || (this.isLoaded && !this.cursor)) return;
    this.isLoading = true;
    try {
      const page = await this.ask(this.cursor);
      this.cursor = page.next_cursor ?? "";
      this.rows = [...this.rows, ...page.data];
      [this.isLoaded, this.error] = [true, null];
    } catch (error) {
      if (!this.stop.signal.aborted) this.error = error;
    }
    this.isLoading = false;
    this.requestUpdate();
  }

  /** Read what the index has gained at its end, without moving the reader. */
  async grow() {
    if (this.cursor) return;
    const page = await this.ask("").catch(() => null);
    if (!page) return;
    const key = (/** @type {any} */ row) => row.id;
    const known = new Set(this.rows.map(key));
    const fresh = page.data.filter((/** @type {Row} */ row) => !known.has(key(row)));
    if (page.next_cursor && this.rows.length >= PAGE) this.cursor = page.next_cursor;
    if (fresh.length) this.rows = [...this.rows, ...fresh];
  }

  /** @param {InputEvent} event */
  typed(event) {
    this.words = /** @type {HTMLInputElement} */ (event.target).value;
    clearTimeout(this.typing);
    const filtersLoaded = !this.asked && !this.cursor && this.rows.length < LOADED_FILTER;
    if (filtersLoaded) return;
    this.typing = setTimeout(() => {
      this.stop.abort();
      this.stop = new AbortController();
      [this.asked, this.rows, this.cursor, this.isLoaded, this.isLoading] = [this.words.trim(), [], "", false, false];
      void this.more();
    }, TYPED_MS);
  }

  get found() {
    const words = this.asked ? "" : this.words.trim().toLowerCase();
    return words ? this.rows.filter((row) => this.textOf(row).toLowerCase().includes(words)) : this.rows;
  }

  /** The player is at this time. @param {number} ms */
  setTime(ms) {
    this.time = ms;
    const now = this.querySelector("a[aria-current]");
    if (!now || now === this.now) return;
    this.now = now;
    if (performance.now() - this.lastScroll < 6_000 || !this.follows) return;
    const list = /** @type {HTMLElement} */ (this.querySelector(".moments"));
    const [box, frame] = [now.getBoundingClientRect(), list.getBoundingClientRect()];
    if (box.top < frame.top || box.bottom > frame.bottom) list.scrollTop += box.top - frame.top - frame.height / 3;
  }

  render() {
    if (!this.isLoaded)
      return this.error
        ? problem(this.error, () => {
            this.error = null;
            void this.more();
          })
        : skeleton(6);
    const found = this.found;
    const scrolled = () => {
      this.lastScroll = performance.now();
    };
    return html`<div class="panel-bar">
        <input
          class="input"
          type="search"
          placeholder=${this.placeholder}
          aria-label=${this.placeholder}
          .value=${this.words}
          @input=${this.typed}
        /><span class="quiet num">${number(found.length)}${this.cursor ? "+" : ""}</span>
      </div>
      <div
        class="moments"
        tabindex="0"
        aria-label=${t("List")}
        role="group"
        @wheel=${scrolled}
        @touchmove=${scrolled}
        @keydown=${scrolled}
      >
        ${found.length
          ? html`<ol class="plain">
              ${found.map((row) => this.draw(row))}
            </ol>`
          : this.words
            ? html`<p class="muted pad">${t("No line has these words.")}</p>`
            : this.none()}
        ${this.cursor ? html`<div data-end class="bone"></div>` : nothing}
        ${this.error ? problem(this.error, () => this.more()) : nothing}
      </div>`;
  }
}
