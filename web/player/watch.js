// The watch page: player and timeline at the left, panels at the right.
import { html, nothing } from "lit";
import { get } from "../api/client.js";
import { say } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { clock } from "../app/format.js";
import { t } from "../app/language.js";
import { note } from "../app/router.js";
import { at, may } from "../app/session.js";
import { skeleton } from "../app/states.js";
import { badge } from "../pages/library_cards.js";
import { listen } from "../timeline/keys.js";
import { TimelineSource } from "../timeline/source.js";
import { goToTime, makeClip } from "./acts.js";
import { buttons, panel } from "./watch_parts.js";
import "../ask/conversation.js";
import "../timeline/timeline.js";
import "./panels.js";
import "./player.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../timeline/timeline.js").AvaTimeline} AvaTimeline */
/** @typedef {import("./player.js").AvaPlayer} AvaPlayer */

/** Names of the panels, by what stands in the address. @type {Record<string, string>} */
const NAMES = {
  Ask: t("Ask"), Events: t("Events"), Speech: t("Speech"), Entities: t("Entities"), Objects: t("Objects"),
  Summary: t("Summary"),
};
const TABS = Object.keys(NAMES);

export class PageWatch extends AppElement {
  static properties = {
    route: { attribute: false }, tab: { state: true }, evidence: { state: true }, pinned: { state: true },
    boxes: { state: true }, clip: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    this.tab = "Ask";
    /** @type {import("../api/types.js").Evidence[]} */
    this.evidence = [];
    /** @type {{name: string, spans: {start: number, end: number}[]}[]} */
    this.pinned = [];
    /** @type {import("../api/types.js").Track[]} */
    this.boxes = [];
    /** @type {[number, number] | null} */
    this.clip = null;
    this.time = 0;
    this.gone = new AbortController();
    const [read, id] = [(/** @type {AbortSignal} */ signal) => get(`/videos/${this.id_}`, {}, signal), () => this.id_];
    this.video = /** @type {Resource<Video>} */ (new Resource(this, read, "video", id));
    this.lanes = new TimelineSource(this, id);
  }

  get id_() {
    return this.route?.params.video ?? "";
  }

  /** @returns {AvaTimeline | null} */
  get timeline() {
    return this.querySelector("ava-timeline");
  }

  /** @returns {AvaPlayer | null} */
  get player() {
    return this.querySelector("ava-player");
  }

  async connectedCallback() {
    super.connectedCallback();
    this.tab =
      TABS.find((tab) => tab.toLowerCase() === this.route?.query.get("tab")) ??
      (may("questions:read") ? "Ask" : "Events");
    listen(
      {
        timeline: () => this.timeline,
        video: () => this.player?.player?.video ?? null,
        clip: () => this.cut(),
        mark: (edge) => this.mark(edge),
        goTo: () => goToTime(this.video.value?.duration_ms ?? 0, (ms) => this.player?.seek(ms)),
        repeat: () => this.repeat(),
      },
      this.gone.signal,
    );
    const [video] = await Promise.all([this.video.reload(), this.lanes.reload()]);
    if (!video) return;
    document.title = `${video.title} · AVA Cloud`;
    const start = Number(this.route?.query.get("t"));
    await this.updateComplete;
    if (start > 0 && !location.hash) this.player?.seek(start * 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.video.stop();
    this.lanes.stop();
    this.gone.abort();
  }

  /** Milliseconds at which the player is. */
  get now() {
    return Math.round((this.player?.player?.video.currentTime ?? 0) * 1000);
  }

  /** @param {CustomEvent} event */
  moved(event) {
    this.time = event.detail;
    this.timeline?.setTime(this.time);
    if (document.activeElement?.matches(".tl-stage")) this.lanes.hear(this.time);
    const panel = /** @type {(HTMLElement & {setTime?: (ms: number) => void}) | null} */ (
      this.querySelector(".panel > :not([hidden])")
    );
    panel?.setTime?.(this.time);
  }

  /** @param {CustomEvent} event */
  sought(event) {
    this.player?.seek(event.detail.ms, event.detail.play, event.detail.end);
  }

  /** @param {"in" | "out"} edge */
  mark(edge) {
    const { now } = this;
    const [from, until] = this.clip ?? [now, Math.min(now + 10_000, this.video.value?.duration_ms ?? now)];
    this.clip = edge === "in" ? [now, Math.max(until, now + 1_000)] : [Math.min(from, Math.max(0, now - 1_000)), now];
    say(edge === "in" ? t("Begins at {time}", { time: clock(now) }) : t("Ends at {time}", { time: clock(now) }));
  }

  repeat() {
    if (!this.clip) return say(t("Mark in and out by i and o first."));
    this.player?.repeat(true);
    this.player?.seek(this.clip[0], true, this.clip[1]);
  }

  cut() {
    const video = this.video.value;
    if (!video || !may("clips:write")) return;
    const { now } = this;
    const [from, until] = this.clip ?? [now, Math.min(now + 10_000, video.duration_ms ?? now)];
    void makeClip(video, from, until);
  }

  /** @param {string} tab @param {boolean} [focus] */
  choose(tab, focus = false) {
    this.tab = tab;
    note({ tab: tab === "Ask" ? "" : tab.toLowerCase() });
    if (focus)
      void this.updateComplete.then(() =>
        /** @type {HTMLElement | null} */ (this.querySelector(`#tab-${tab}`))?.focus(),
      );
  }

  /** @param {KeyboardEvent} event */
  tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(/** @type {string} */ (TABS[(TABS.indexOf(this.tab) + step + TABS.length) % TABS.length]), true);
  }

  render() {
    return html`<div class="page wide watch">${this.video.show((video) => this.page(video), skeleton(8, true))}</div>`;
  }

  /** @param {Video} video */
  page(video) {
    const tracks = [...new Set(this.lanes.value?.speech.track ?? [])];
    return html`<div class="head">
        <div class="grow">
          <p class="crumbs"><a href=${at("library")}>${t("Library")}</a></p>
          <div class="row wrap">
            <h1>${video.title}</h1>
            ${badge(video)}${video.index_version > 1
              ? html`<span class="badge">${t("Index {n}", { n: video.index_version })}</span>`
              : nothing}
          </div>
        </div>
        <div class="actions">${buttons(this, video)}</div>
      </div>
      ${video.error
        ? html`<div class="problem" role="alert">
            <strong>${t("This video could not be indexed")}</strong>
            <p>${video.error.message}</p>
          </div>`
        : nothing}
      <div class="watch-body">
        <div class="watch-main">
          ${this.lanes.value
            ? html`<ava-player
                .video=${video}
                .tracks=${tracks}
                .object=${this.boxes}
                @time=${this.moved}
              ></ava-player>`
            : html`<div class="player-wait bone"></div>`}
          ${this.lanes.show(
            (lanes) =>
              html`<ava-timeline
                .timeline=${this.lanes.detailed ?? lanes}
                .duration=${video.duration_ms ?? 0}
                .indexedUntil=${video.indexed_until_ms}
                .evidence=${this.evidence}
                .summaries=${this.lanes.summaries}
                .pinned=${this.pinned}
                .clip=${this.clip}
                .tileAt=${(/** @type {number} */ ms) => this.player?.tileAt(ms)}
                .stretches=${video.wall_clock?.stretches ?? []}
                @seek=${this.sought}
                @window=${(/** @type {CustomEvent} */ event) => this.lanes.look(event.detail[0], event.detail[1])}
              ></ava-timeline>`,
            html`<div class="bone tall"></div>`,
          )}
        </div>
        <section class="watch-side card" aria-label=${t("About this video")}>
          <div class="tabs" role="tablist" aria-label=${t("Panels")} @keydown=${this.tabKey}>
            ${TABS.filter((tab) => tab !== "Ask" || may("questions:read")).map(
              (tab) =>
                html`<button
                  role="tab"
                  id="tab-${tab}"
                  aria-controls="panel"
                  aria-selected=${tab === this.tab}
                  tabindex=${tab === this.tab ? 0 : -1}
                  @click=${() => this.choose(tab)}
                >
                  ${NAMES[tab]}
                </button>`,
            )}
          </div>
          <div class="panel" id="panel" role="tabpanel" aria-labelledby="tab-${this.tab}">${panel(this, video)}</div>
        </section>
      </div>`;
  }
}

define("page-watch", PageWatch);
