// A player beside an answer, for whichever video the chosen evidence lies in.
import { html, nothing } from "lit";
import { get } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { clock } from "../app/format.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import "../player/player.js";

/** @typedef {import("../api/types.js").Evidence} Evidence */
/** @typedef {import("../player/player.js").AvaPlayer} AvaPlayer */

export class AvaDock extends AppElement {
  static properties = { evidence: { state: true }, gone: { state: true }, player: { state: true } };

  constructor() {
    super();
    /** @type {Evidence | null} */
    this.evidence = null;
    this.gone = false;
    /** @type {AvaPlayer | null} */
    this.player = null;
  }

  /** Play a moment, again and again. @param {Evidence} evidence @param {{play?: boolean}} [options] */
  async show(evidence, { play = true } = {}) {
    const before = this.evidence?.video_id;
    this.evidence = evidence;
    const start = Math.max(0, evidence.start_ms - 1000);
    if (evidence.video_id !== before || !this.player) {
      const video = await get(`/videos/${evidence.video_id}`).catch(() => null);
      if (this.evidence !== evidence) return;
      this.gone = !video;
      if (!video) return;
      this.player = /** @type {AvaPlayer} */ (document.createElement("ava-player"));
      this.player.video = video;
    }
    if (play) this.player.repeat(true);
    this.player.seek(start, play, play ? evidence.end_ms : null);
  }

  render() {
    const { evidence } = this;
    if (!evidence) return nothing;
    return html`<aside class="dock" aria-label=${t("The chosen moment")}>
      ${this.gone
        ? html`<p class="note warn">${t("The recording is gone; the pictures of the evidence stay.")}</p>`
        : this.player}
      <p class="spread">
        <span class="cut"
          ><strong>${evidence.video_title}</strong>
          <span class="quiet num">${clock(evidence.start_ms)}–${clock(evidence.end_ms)}</span></span
        >
        ${this.gone
          ? nothing
          : html`<a href="${at(`videos/${evidence.video_id}`)}?t=${evidence.start_ms / 1000}">${t("Open the video")}</a>`}
      </p>
      ${evidence.quote ? html`<p class="muted">${evidence.quote}</p>` : nothing}
    </aside>`;
  }
}

define("ava-dock", AvaDock);
