// Asking about many videos: earlier conversations at the left, this one with its scope beside a player.
import { html, nothing } from "lit";
import { get, newKey, post, remove, rows } from "../api/client.js";
import { confirm } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { ago, videos } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { go } from "../app/router.js";
import { at, may } from "../app/session.js";
import { empty, problem, skeleton } from "../app/states.js";
import { isOpen } from "./stream.js";
import "./answer.js";
import "./composer.js";
import "./dock.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../api/types.js").Collection} Collection */

class PageAsk extends AppElement {
  static properties = {
    route: { attribute: false },
    scope: { state: true },
    error: { state: true },
    asked: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    /** "all", "col_…", or ids of videos joined by commas. */
    this.scope = "all";
    /** @type {unknown} */
    this.error = null;
    /** Questions of this conversation, the newest last. @type {Question[]} */
    this.asked = [];
    this.sessions = new Resource(
      this,
      async (signal) => /** @type {Session[]} */ ((await get("/sessions", { limit: 30 }, signal)).data),
    );
    this.places = new Resource(this, async (signal) => {
      const [videos, collections] = await Promise.all([
        get("/videos", { limit: 100 }, signal),
        rows("/collections", {}, 100, signal),
      ]);
      return { videos: /** @type {Video[]} */ (videos.data), collections: /** @type {Collection[]} */ (collections) };
    });
    this.turns = new Resource(this, async (signal) => {
      if (!this.session) return [];
      const page = await get("/questions", { session_id: this.session, limit: 50 }, signal);
      this.asked = page.data.reverse();
      return this.asked;
    }, "question");
  }

  get session() {
    return this.route?.params.session ?? "";
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Ask")} · AVA Cloud`;
    this.scope = this.route?.query.get("videos") ?? this.route?.query.get("collection") ?? "all";
    void this.sessions.reload();
    void this.places.reload();
    void this.turns.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    for (const each of [this.sessions, this.places, this.turns]) each.stop();
  }

  /** What a new conversation is about. @returns {{video_ids?: string[], collection_id?: string}} */
  get wanted() {
    const now = this.sessions.value?.find((each) => each.id === this.session);
    if (now) return now.collection_id ? { collection_id: now.collection_id } : { video_ids: now.video_ids };
    if (this.scope.startsWith("col_")) return { collection_id: this.scope };
    if (this.scope !== "all") return { video_ids: this.scope.split(",") };
    return {
      video_ids: (this.places.value?.videos ?? [])
        .filter((video) => video.indexed_until_ms > 0)
        .map((video) => video.id),
    };
  }

  /** @param {CustomEvent} event */
  async accepted(event) {
    this.asked = [...this.asked, event.detail];
    await this.updateComplete;
    this.querySelector(".turns")?.lastElementChild?.scrollIntoView({ block: "nearest" });
  }

  /** Open a session, in which a question may refer to the one before. */
  async converse() {
    this.error = null;
    try {
      const session = await post("/sessions", this.wanted, { key: newKey() });
      go(at(`ask/${session.id}`));
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {CustomEvent} event */
  answered(event) {
    this.asked = this.asked.map((each) => (each.id === event.detail.id ? event.detail : each));
    const [first] = event.detail.evidence;
    const dock = /** @type {import("./dock.js").AvaDock} */ (this.querySelector("ava-dock"));
    if (first && event.detail.id === this.asked.at(-1)?.id) void dock.show(first, { play: false });
  }

  /** @param {CustomEvent} event */
  again(event) {
    void (/** @type {import("./composer.js").AvaComposer} */ (this.querySelector("ava-composer")).ask(event.detail));
  }

  render() {
    const places = this.places.value;
    const nothingIndexed = places && !places.videos.some((video) => video.indexed_until_ms > 0);
    const wait = places?.videos.length
      ? t("Nothing is indexed yet. You can ask in a minute.")
      : t("Add a video first; after a minute you can ask about it.");
    return html`<div class="page wide">
      <div class="head">
        <h1>${t("Ask")}</h1>
        <div class="actions">
          ${this.session
            ? html`<a class="button" href=${at("ask")}>${icon("plus", 16)}${t("New question")}</a>
                ${may("questions:write")
                  ? html`<button class="button danger" @click=${this.drop}>${t("Delete the conversation")}</button>`
                  : nothing}`
            : nothing}
        </div>
      </div>
      <div class="ask-body">
        <nav class="sessions" aria-label=${t("Conversations")}>
          <h2>${t("Conversations")}</h2>
          ${this.sessions.show(
            (list) =>
              list.length
                ? html`${list.map(
                    (each) =>
                      html`<a
                        class="tab-link"
                        href=${at(`ask/${each.id}`)}
                        aria-current=${each.id === this.session ? "page" : nothing}
                        ><span class="cut"
                          >${each.collection_id ? t("Collection") : videos(each.video_ids.length)}
                          <span class="quiet"
                            >${t("{count, plural, one {# question} other {# questions}}", { count: each.turns })} ·
                            ${ago(each.created_at)}</span
                          ></span
                        ></a
                      >`,
                  )}`
                : html`<p class="quiet">${t("None yet.")}</p>`,
            skeleton(3),
          )}
        </nav>
        <div class="stack">
          ${this.error ? problem(this.error) : nothing}
          ${nothingIndexed
            ? empty(t("Nothing to ask about yet"), wait, {
                actions: html`<a class="button main" href=${at("library")}>${t("To the library")}</a>`,
              })
            : this.talk()}
        </div>
        <ava-dock></ava-dock>
      </div>
    </div>`;
  }

  talk() {
    const places = this.places.value;
    const open = this.asked.find(isOpen);
    const waits = open ? t("The question before is still open. Wait for its answer, or stop it.") : "";
    const busy = this.session ? waits : places ? "" : t("One moment");
    const name = this.session
      ? t("This conversation")
      : this.scope === "all"
        ? t("All videos")
        : this.scope.startsWith("col_")
          ? (places?.collections.find((each) => each.id === this.scope)?.name ?? t("Collection"))
          : videos(this.scope.split(",").length);
    return html`<div
        class="turns stack"
        @ask=${this.again}
        @answered=${this.answered}
        @play=${(/** @type {CustomEvent} */ event) =>
          /** @type {import("./dock.js").AvaDock} */ (this.querySelector("ava-dock")).show(event.detail.evidence)}
      >
        ${this.session ? this.turns.show(() => nothing, skeleton(4)) : nothing}
        ${this.asked.map((question) => html`<ava-answer class="card pad" .of=${question.id}></ava-answer>`)}
      </div>
      ${this.session
        ? nothing
        : html`<div class="row wrap">
            <label for="scope">${t("About")}</label
            ><select
              class="input auto"
              id="scope"
              @change=${(/** @type {Event} */ event) => {
                this.scope = /** @type {HTMLSelectElement} */ (event.target).value;
              }}
            >
              <option value="all" ?selected=${this.scope === "all"}>${t("All videos")}</option>
              ${this.scope !== "all" && !this.scope.startsWith("col_")
                ? html`<option value=${this.scope} selected>${name}</option>`
                : nothing}
              ${(places?.collections ?? []).map(
                (each) =>
                  html`<option value=${each.id} ?selected=${this.scope === each.id}>${t("Collection: {name}", each)}</option>`,
              )}
              ${(places?.videos ?? []).map(
                (each) => html`<option value=${each.id} ?selected=${this.scope === each.id}>${each.title}</option>`,
              )}
            </select>
            ${may("questions:write")
              ? html`<button class="button bare" @click=${this.converse}>${t("Begin a conversation about it")}</button>`
              : nothing}
          </div>`}
      ${may("questions:write")
        ? html`<ava-composer
            class="card pad"
            .scope=${this.wanted}
            .scopeName=${name}
            .session=${this.session}
            .busy=${busy}
            .last=${this.asked.at(-1)?.question ?? ""}
            @asked=${this.accepted}
          ></ava-composer>`
        : nothing}`;
  }

  async drop() {
    const done = await confirm(t("Delete the conversation"), t("Its questions and answers stay."), () =>
      remove(`/sessions/${this.session}`),
    );
    if (done) go(at("ask"));
  }
}

define("page-ask", PageAsk);
