// The library: videos of the tenant, by collection and state; files are dropped anywhere on it.
import { html, nothing } from "lit";
import { get, rows } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { icon } from "../app/icons.js";
import { isWriting } from "../app/keys.js";
import { t } from "../app/language.js";
import { note } from "../app/router.js";
import { at, may } from "../app/session.js";
import { empty } from "../app/states.js";
import { uploads } from "../upload/queue.js";
import { addLink, addSample } from "./library_acts.js";
import { card, line } from "./library_cards.js";
import { aside, buttons, bulk, filters } from "./library_parts.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../api/types.js").Collection} Collection */
/** @typedef {import("../api/types.js").PageOf<Video>} Videos */

const PAGE = 48;
const LOOK = "ava.library.look";

export class PageLibrary extends AppElement {
  static properties = {
    route: { attribute: false },
    words: { state: true },
    chosen: { state: true },
    look: { state: true },
    dropping: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    this.words = "";
    /** @type {Set<string>} */
    this.chosen = new Set();
    this.look = localStorage.getItem(LOOK) ?? "grid";
    this.dropping = false;
    this.shown = PAGE;
    this.videos = new Resource(this, (signal) => this.load(signal), "video");
    this.collections = new Resource(
      this,
      (signal) => /** @type {Promise<Collection[]>} */ (rows("/collections", {}, 200, signal)),
      "collection",
    );
    this.pressed = (/** @type {KeyboardEvent} */ event) => this.key(event);
    this.dragged = (/** @type {DragEvent} */ event) => this.drag(event);
  }

  get collection() {
    return this.route?.query.get("collection") ?? "";
  }

  get status() {
    return this.route?.query.get("status") ?? "";
  }

  /** @param {AbortSignal} signal @returns {Promise<{data: Video[], more: boolean}>} */
  async load(signal) {
    /** @type {Video[]} */
    const data = [];
    let cursor = "";
    do {
      /** @type {Videos} */
      const page = await get(
        "/videos",
        { limit: Math.min(100, this.shown - data.length), cursor, collection_id: this.collection, status: this.status },
        signal,
      );
      data.push(...page.data);
      cursor = page.next_cursor ?? "";
    } while (cursor && data.length < this.shown);
    return { data, more: Boolean(cursor) };
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Library")} · AVA Cloud`;
    void this.videos.reload();
    void this.collections.reload();
    document.addEventListener("keydown", this.pressed);
    for (const name of ["dragover", "dragleave", "drop"])
      document.addEventListener(/** @type {"drop"} */ (name), this.dragged);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.videos.stop();
    this.collections.stop();
    document.removeEventListener("keydown", this.pressed);
    for (const name of ["dragover", "dragleave", "drop"])
      document.removeEventListener(/** @type {"drop"} */ (name), this.dragged);
  }

  /** @param {DragEvent} event */
  drag(event) {
    if (!may("videos:write") || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.dropping = event.type === "dragover" || (event.type === "dragleave" && event.relatedTarget !== null);
    if (event.type === "drop") this.send(event.dataTransfer.files);
  }

  /** @param {Iterable<File>} files */
  send(files) {
    uploads.add(files, this.collection || undefined);
  }

  choose() {
    /** @type {HTMLInputElement | null} */ (this.querySelector("#files"))?.click();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || document.querySelector("dialog[open]"))
      return;
    if (event.key === "u" && may("videos:write")) return this.choose();
    const cards = /** @type {HTMLElement[]} */ ([...this.querySelectorAll("a.open")]);
    const now = cards.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "x" && now >= 0) return this.toggle(cards[now]?.dataset.video ?? "");
    const grid = this.querySelector(".videos");
    const columns = grid ? Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length) : 1;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!step || !cards.length || (now < 0 && document.activeElement?.matches("button, select, a"))) return;
    event.preventDefault();
    cards[now < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, now + step))]?.focus();
  }

  /** @param {string} id */
  toggle(id) {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(id)) chosen.add(id);
    this.chosen = chosen;
  }

  /** @param {Record<string, string>} query */
  narrow(query) {
    note(query);
    if (this.route) this.route.query = new URL(location.href).searchParams;
    this.videos.value = undefined;
    this.chosen = new Set();
    this.requestUpdate();
    void this.videos.reload();
  }

  /** @param {string} look */
  setLook(look) {
    this.look = look;
    localStorage.setItem(LOOK, look);
  }

  render() {
    return html`<div class="page wide library">
      <div class="head">
        <h1>${t("Library")}</h1>
        <div class="actions">${buttons(this)}</div>
      </div>
      <div class="library-body">
        ${aside(this)}
        <div class="stack">
          ${filters(this)} ${this.chosen.size ? bulk(this) : nothing}
          ${this.videos.show(({ data, more }) => this.list(data, more), bones())}
        </div>
      </div>
      ${this.dropping
        ? html`<div class="drop-cover" aria-hidden="true">
            <div>${icon("upload", 34)}<strong>${t("Drop to upload")}</strong></div>
          </div>`
        : nothing}
    </div>`;
  }

  /** @param {Video[]} data @param {boolean} more */
  list(data, more) {
    const words = this.words.toLowerCase();
    const shown = data.filter((video) => video.title.toLowerCase().includes(words));
    if (!data.length) return this.nothingYet();
    if (!shown.length)
      return empty(
        t("No title fits"),
        t("Search inside videos on the <a>search page</a>.", {
          a: (/** @type {unknown} */ words) =>
            html`<a href=${at(`search?q=${encodeURIComponent(this.words)}`)}>${words}</a>`,
        }),
        { picture: "search" },
      );
    const acts = {
      isChosen: (/** @type {string} */ id) => this.chosen.has(id),
      toggle: (/** @type {string} */ id) => this.toggle(id),
    };
    return html`${this.look === "table"
      ? html`<div class="card scrolls">
          <table class="folds">
            <thead>
              <tr>
                <th><span class="sr">${t("Choose")}</span></th>
                <th>${t("Title")}</th>
                <th>${t("State")}</th>
                <th class="right">${t("Length")}</th>
                <th class="right">${t("Indexed")}</th>
                <th class="right">${t("Cost")}</th>
                <th>${t("Added")}</th>
              </tr>
            </thead>
            <tbody>
              ${shown.map((video) => line(video, acts))}
            </tbody>
          </table>
        </div>`
      : html`<ul class="videos plain">
          ${shown.map((video) => card(video, acts))}
        </ul>`}
    ${more
      ? html`<div>
          <button
            class="button"
            @click=${() => {
              this.shown += PAGE;
              void this.videos.reload();
            }}
          >
            ${t("Show more")}
          </button>
        </div>`
      : nothing}`;
  }

  nothingYet() {
    if (this.collection || this.status)
      return empty(t("Nothing here"), t("No video has this state or is in this collection."), { picture: "folder" });
    if (!may("videos:write")) return empty(t("No videos yet"), t("Somebody who may upload has to add the first one."));
    return html`<div class="drop-zone">
      ${empty(t("Drop a video here"), t("It is indexed as it arrives, and you can ask about it after the first minute."), {
        picture: "upload",
        actions: html`<button class="button main" @click=${this.choose}>${t("Choose files")}</button>
          <button class="button" @click=${() => addLink(this.collection, () => this.videos.reload())}>
            ${t("Paste a link")}
          </button>
          <button class="button" @click=${() => addSample((file) => this.send([file]))}>
            ${t("Index the sample video")}
          </button>`,
      })}
    </div>`;
  }
}

const bones = () =>
  html`<div class="videos" aria-hidden="true">
      ${Array.from(
        { length: 8 },
        () =>
          html`<div class="card">
            <div class="bone poster"></div>
            <div class="pad"><div class="bone"></div></div>
          </div>`,
      )}
    </div>
    <p class="sr" role="status">${t("Loading")}</p>`;

define("page-library", PageLibrary);
