// Search: moments of all videos that fit some words; a result plays beside the list.
import { html, nothing } from "lit";
import { get, newKey, post, rows } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { clock } from "../app/format.js";
import { icon } from "../app/icons.js";
import { isWriting } from "../app/keys.js";
import { t } from "../app/language.js";
import { note } from "../app/router.js";
import { at } from "../app/session.js";
import { empty, problem, skeleton } from "../app/states.js";
import "../ask/dock.js";

/** @typedef {import("../api/types.js").Search} Search */
/** @typedef {import("../api/types.js").Schemas["SearchResult"]} SearchResult */
/** @typedef {import("../api/types.js").Collection} Collection */

const POLL_MS = 1_000;
const LIMIT = 24;
/** @type {[string, string][]} */
const MODES = [
  ["hybrid", t("Best of both")], ["semantic", t("By meaning")], ["words", t("Exact words")],
  ["objects", t("Objects by look")],
];
/** @type {Record<string, string>} */
const VIEWS = {
  event: t("what happens"), entity: t("who or what is in it"), frame: t("the picture"), transcript: t("what is said"),
  topic: t("its topic"), words: t("its words"), name: t("a name"), title: t("a title"), object: t("an object"),
  graph: t("its connections"),
};

class PageSearch extends AppElement {
  static properties = {
    route: { attribute: false },
    search: { state: true },
    error: { state: true },
    mode: { state: true },
    isBusy: { state: true },
    collection: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    /** @type {Search | null} */
    this.search = null;
    /** @type {unknown} */
    this.error = null;
    this.mode = "hybrid";
    this.collection = "";
    this.isBusy = false;
    this.turn = 0;
    this.collections = new Resource(
      this,
      (signal) => /** @type {Promise<Collection[]>} */ (rows("/collections", {}, 100, signal)),
    );
    this.pressed = (/** @type {KeyboardEvent} */ event) => this.key(event);
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Search")} · AVA Cloud`;
    this.mode = this.route?.query.get("mode") ?? "hybrid";
    this.collection = this.route?.query.get("collection") ?? "";
    document.addEventListener("keydown", this.pressed);
    void this.collections.reload();
  }

  firstUpdated() {
    const words = this.route?.query.get("q") ?? "";
    this.field.value = words;
    if (words) void this.run();
    else this.field.focus();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.turn += 1;
    this.collections.stop();
    document.removeEventListener("keydown", this.pressed);
  }

  get field() {
    return /** @type {HTMLInputElement} */ (this.querySelector("#search-words"));
  }

  /** @param {Event | null} event */
  async run(event = null) {
    event?.preventDefault();
    const query = this.field.value.trim();
    if (!query) return;
    const turn = (this.turn += 1);
    note({ q: query, mode: this.mode === "hybrid" ? "" : this.mode, collection: this.collection });
    [this.isBusy, this.error] = [true, null];
    try {
      // Without a scope every video is searched.
      const scope = this.collection ? { collection_id: this.collection } : {};
      /** @type {Search} */
      let search = await post("/search", { ...scope, query, mode: this.mode, limit: LIMIT }, { key: newKey() });
      while (search.status === "queued" || search.status === "running") {
        await new Promise((done) => setTimeout(done, POLL_MS));
        if (turn !== this.turn) return;
        search = await get(`/searches/${search.id}`);
      }
      if (turn !== this.turn) return;
      this.search = search;
    } catch (error) {
      if (turn === this.turn) this.error = error;
    }
    this.isBusy = false;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return;
    const step = { j: 1, k: -1 }[event.key];
    const found = /** @type {HTMLElement[]} */ ([...this.querySelectorAll(".result > button")]);
    if (!step || !found.length) return;
    event.preventDefault();
    const now = found.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    found[Math.max(0, Math.min(found.length - 1, now + step))]?.focus();
  }

  /** @param {SearchResult} result */
  play(result) {
    const dock = /** @type {import("../ask/dock.js").AvaDock} */ (this.querySelector("ava-dock"));
    void dock.show(
      /** @type {import("../api/types.js").Evidence} */ (
        /** @type {unknown} */ ({ ...result, quote: result.summary, status: "unverified" })
      ),
    );
  }

  render() {
    const { search } = this;
    return html`<div class="page">
      <h1>${t("Search")}</h1>
      <form class="searching" role="search" @submit=${this.run}>
        <input
          class="input grow"
          type="search"
          id="search-words"
          aria-label=${t("What to look for")}
          placeholder=${t("A red van at the gate, or “exact words”")}
        />
        <button class="button main" ?disabled=${this.isBusy}>${icon("search", 16)}${t("Search")}</button>
      </form>
      <div class="row wrap">
        ${MODES.map(
          ([value, name]) =>
            html`<button
              class="chip"
              aria-pressed=${this.mode === value}
              @click=${() => {
                this.mode = value;
                void this.run();
              }}
            >
              ${name}
            </button>`,
        )}
        ${this.collections.value?.length
          ? html`<label class="sr" for="search-scope">${t("Collection")}</label
              ><select
                class="input auto"
                id="search-scope"
                @change=${(/** @type {Event} */ event) => {
                  this.collection = /** @type {HTMLSelectElement} */ (event.target).value;
                  void this.run();
                }}
              >
                <option value="">${t("All videos")}</option>
                ${this.collections.value.map(
                  (each) =>
                    html`<option value=${each.id} ?selected=${each.id === this.collection}>${each.name}</option>`,
                )}
              </select>`
          : nothing}
      </div>
      ${this.error ? problem(this.error, () => this.run()) : nothing}
      ${this.isBusy
        ? skeleton(6)
        : search
          ? this.found(search)
          : empty(t("Find a moment"), t("By what happens, what is said, what is written, or how something looks."), {
              picture: "search",
            })}
    </div>`;
  }

  /** @param {Search} search */
  found(search) {
    const ask = html`<a class="button" href="${at("ask")}">${t("Ask instead")}</a>`;
    if (search.status === "failed")
      return html`<div class="problem">
        <strong>${t("The search failed")}</strong>
        <p>${search.error?.message}</p>
      </div>`;
    if (!search.results.length && !search.objects.length)
      return empty(t("Nothing was found"), search.empty_reason?.message ?? t("No moment fits these words."), {
        picture: "search",
        actions: ask,
      });
    const count = search.results.length + search.objects.length;
    return html`<p class="quiet" role="status">
        ${t("{count, plural, one {# moment} other {# moments}}", { count })}
      </p>
      <div class="beside">
        <ol class="results plain">
          ${search.results.map((result) => this.result(result))}
          ${search.objects.map((each) =>
            this.result(
              /** @type {SearchResult} */ (
                /** @type {unknown} */ ({
                  ...each,
                  summary: `${each.colour} ${each.category} ${each.n}`,
                  highlights: [],
                  reasons: [],
                  moments: [],
                })
              ),
            ),
          )}
        </ol>
        <ava-dock></ava-dock>
      </div>`;
  }

  /** @param {SearchResult} result */
  result(result) {
    const [highlight] = result.highlights;
    const why = [...new Set(result.reasons.map((reason) => VIEWS[reason.view] ?? reason.view))].slice(0, 3);
    return html`<li class="card result">
      <button
        class="poster"
        aria-label=${t("Play {name}, {time}", { name: result.video_title, time: clock(result.start_ms) })}
        @click=${() => this.play(result)}
      >
        ${result.frame?.thumbnail_url
          ? html`<img src=${result.frame.thumbnail_url} alt="" loading="lazy" />`
          : icon("film", 24)}<span class="length num">${clock(result.start_ms)}</span>
      </button>
      <p>
        <a href="${at(`videos/${result.video_id}`)}?t=${result.start_ms / 1000}"
          ><strong>${result.video_title || t("Untitled")}</strong></a
        >
        <span class="quiet num">${clock(result.start_ms)}–${clock(result.end_ms)}</span>
      </p>
      <p>
        ${highlight && highlight.kind !== "summary"
          ? html`“${marked(highlight.text, highlight.ranges)}”`
          : highlight
            ? marked(highlight.text, highlight.ranges)
            : result.summary}
      </p>
      <p class="quiet">
        ${why.length ? html`${t("Found by {reasons}", { reasons: why.join(", ") })} · ` : nothing}${t("fits {percent} %", {
          percent: Math.round(result.score * 100),
        })}
      </p>
    </li>`;
  }
}

/** @param {string} text @param {{start: number, end: number}[]} ranges */
function marked(text, ranges) {
  const parts = [];
  let at_ = 0;
  for (const { start, end } of ranges) {
    parts.push(text.slice(at_, start), html`<mark>${text.slice(start, end)}</mark>`);
    at_ = end;
  }
  return [...parts, text.slice(at_)];
}

define("page-search", PageSearch);
