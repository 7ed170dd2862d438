// The panels of the watch page: events, speech, entities, objects, summary.
import { html, nothing } from "lit";
import { get, rows } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { clock } from "../app/format.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { MomentList } from "./list.js";

/** @typedef {import("../api/types.js").VideoEvent} VideoEvent */
/** @typedef {import("../api/types.js").TranscriptLine} TranscriptLine */
/** @typedef {import("../api/types.js").Entity} Entity */
/** @typedef {import("../api/types.js").TrackedObject} TrackedObject */

/** Return the address of a moment, which the player follows. @param {number} start @param {number} [end] ms */
export const moment = (start, end) => `#t=${start / 1000}${end === undefined ? "" : `,${end / 1000}`}`;

/** @param {{start_ms: number, end_ms: number}} span @param {unknown} words @param {unknown} [picture] @param {unknown} [act] */
const momentRow = ({ start_ms, end_ms }, words, picture = nothing, act = nothing) =>
  html`<li class="moment-row">
    <a data-moment href=${moment(start_ms, end_ms)}
      >${picture}<span
        ><span class="time num">${clock(start_ms)}<span class="quiet">–${clock(end_ms)}</span></span>${words}</span
      ></a
    >${act}
  </li>`;

/** @param {string | null} url @param {number} width */
const picture = (url, width) =>
  url
    ? html`<img src=${url} alt="" loading="lazy" width=${width} height="48" />`
    : html`<span class="no-picture"></span>`;

/** @extends {MomentList<VideoEvent>} */
class PanelEvents extends MomentList {
  constructor() {
    super("events", t("Filter events by words"));
  }

  /** @param {VideoEvent} row */
  textOf(row) {
    return `${row.summary} ${row.participants.map((each) => each.name).join(" ")}`;
  }

  none() {
    return html`<p class="muted pad">
      ${this.video?.status === "ready"
        ? t("No event was found in this video.")
        : t("The first events appear when a minute is indexed.")}
    </p>`;
  }

  /** @param {VideoEvent} row */
  draw(row) {
    return momentRow(row, row.summary, picture(row.thumbnail_url, 84));
  }
}

/** @extends {MomentList<TranscriptLine>} */
class PanelSpeech extends MomentList {
  constructor() {
    super("transcript", t("Filter speech by words"), true);
  }

  /** @param {TranscriptLine} row */
  textOf(row) {
    return row.text;
  }

  none() {
    const tracks = this.video?.probe?.audio_tracks ?? [];
    const reason = !this.video?.probe
      ? t("The file is not read yet.")
      : tracks.length
        ? t("Nothing was said, or it was too quiet to be understood.")
        : t("The file has no audio track.");
    return html`<p class="muted pad">${t("No speech was found.")} ${reason}</p>`;
  }

  /** @param {TranscriptLine} row */
  draw(row) {
    return html`<li class="moment-row line">
      <a data-moment href=${moment(row.start_ms, row.end_ms)}
        ><span class="time num">${clock(row.start_ms)}</span>
        <span lang=${row.language || nothing}>${row.text}</span></a
      >
    </li>`;
  }
}

/** @extends {MomentList<Entity>} */
class PanelEntities extends MomentList {
  constructor() {
    super("entities", t("Filter entities by name"));
  }

  /** @param {Entity} row */
  textOf(row) {
    return `${row.name} ${row.type} ${row.aliases.join(" ")} ${row.description}`;
  }

  none() {
    return html`<p class="muted pad">${t("No person, thing or place was named.")}</p>`;
  }

  /** @param {Entity} row */
  draw(row) {
    const count = row.appearances.length;
    const spans = row.appearances.map((each) => ({ start: each.start_ms, end: each.end_ms }));
    const pin = () => this.dispatchEvent(new CustomEvent("pin", { detail: { name: row.name, spans } }));
    return html`<li class="thing">
      <div class="spread">
        <a href=${at(`videos/${this.video?.id}/entities/${row.id}`)}><strong>${row.name}</strong></a>
        <span class="badge">${row.type}</span>
      </div>
      ${row.description ? html`<p class="muted small">${row.description}</p>` : nothing}
      <div class="row wrap">
        ${spans.slice(0, 4).map(
          ({ start, end }) => html`<a class="chip num" data-moment href=${moment(start, end)}>${clock(start)}</a>`,
        )}
        ${count > 4
          ? html`<span class="quiet">${t("{count, plural, one {Appears once} other {# appearances}}", { count })}</span>`
          : nothing}
        ${count ? html`<button class="button bare" @click=${pin}>${t("Show on the timeline")}</button>` : nothing}
      </div>
    </li>`;
  }
}

/** @extends {MomentList<TrackedObject>} */
class PanelObjects extends MomentList {
  static properties = { ...MomentList.properties, shown: { state: true } };

  constructor() {
    super("objects", t("Filter objects by kind or colour"));
    this.shown = "";
  }

  /** @param {TrackedObject} row */
  textOf(row) {
    return `${row.category} ${row.colour} ${row.entities.map((each) => each.name).join(" ")}`;
  }

  none() {
    return html`<p class="muted pad">${t("No object was tracked.")}</p>`;
  }

  /** Show the boxes of an object on the picture, or hide them. @param {TrackedObject} row */
  async box(row) {
    this.shown = this.shown === row.id ? "" : row.id;
    const tracks = this.shown ? await rows(`/videos/${this.video?.id}/tracks`, { object_id: row.id }, 300) : [];
    this.dispatchEvent(new CustomEvent("boxes", { detail: tracks }));
  }

  /** @param {TrackedObject} row */
  draw(row) {
    const often = t("{count, plural, one {# time in sight} other {# times in sight}}", { count: row.spans.length });
    const words = html`${[row.colour, row.category].filter(Boolean).join(" ")} ${row.n}
      <span class="quiet">${[often, row.entities[0]?.name].filter(Boolean).join(", ")}</span>`;
    const act = html`<button
      class="button bare"
      aria-pressed=${this.shown === row.id}
      aria-label=${t("Show the boxes of {name}", { name: `${row.category} ${row.n}` })}
      @click=${() => this.box(row)}
    >
      ${t("Boxes")}
    </button>`;
    return momentRow(row, words, picture(row.thumbnail_url, 48), act);
  }
}

class PanelSummary extends AppElement {
  static properties = { video: { attribute: false } };

  constructor() {
    super();
    /** @type {import("../api/types.js").Video | null} */
    this.video = null;
    const id = () => this.video?.id ?? "";
    const read = (/** @type {AbortSignal} */ signal) => get(`/videos/${id()}/summary`, {}, signal);
    this.summary = /** @type {Resource<import("../api/types.js").Summary>} */ (new Resource(this, read, "video", id));
  }

  connectedCallback() {
    super.connectedCallback();
    void this.summary.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.summary.stop();
  }

  render() {
    return html`<div class="moments" tabindex="0" role="group" aria-label=${t("Summary")}>
      ${this.summary.show(
        (summary) =>
          html` ${summary.text
              ? html`<p class="pad prose">${summary.text}</p>`
              : html`<p class="muted pad">
                  ${summary.error?.message ?? t("The summary is written when the first ten parts are indexed.")}
                </p>`}
            ${summary.complete || !summary.text
              ? nothing
              : html`<p class="quiet pad">
                  ${t("About the first {time}. It grows with the index.", { time: clock(summary.until_ms) })}
                </p>`}
            <ol class="plain">
              ${summary.topics.map((topic) => momentRow(topic, html`<strong>${topic.title}</strong> ${topic.summary}`))}
            </ol>`,
      )}
    </div>`;
  }
}

define("panel-events", PanelEvents);
define("panel-speech", PanelSpeech);
define("panel-entities", PanelEntities);
define("panel-objects", PanelObjects);
define("panel-summary", PanelSummary);
