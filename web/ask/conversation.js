// Questions about one scope, one after another: what was asked before, the answer that is open, and the composer.
import { html, nothing } from "lit";
import { get } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { ago, clock } from "../app/format.js";
import { t } from "../app/language.js";
import { note } from "../app/router.js";
import { may } from "../app/session.js";
import { empty } from "../app/states.js";
import { isOpen } from "./stream.js";
import "./answer.js";
import "./composer.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../api/types.js").Question} Question */

const SHOWN = 20;

class AvaConversation extends AppElement {
  static properties = {
    videos: { attribute: false },
    question: { attribute: false },
    chosen: { state: true },
    isBusy: { state: true },
  };

  constructor() {
    super();
    /** @type {Video[]} */
    this.videos = [];
    /** Id of the question to begin with; "" for none. */
    this.question = "";
    this.chosen = "";
    this.isBusy = false;
    this.questions = new Resource(this, async (signal) => {
      /** @type {import("../api/types.js").PageOf<Question>} */
      const page = await get("/questions", { video_id: this.videos[0]?.id, limit: SHOWN }, signal);
      return page.data;
    }, "question");
  }

  async connectedCallback() {
    super.connectedCallback();
    this.chosen = this.question;
    const found = await this.questions.reload();
    // A question that is still open is taken up again.
    if (!this.chosen) this.open(found?.find(isOpen)?.id ?? "");
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.questions.stop();
  }

  /** @param {string} id */
  open(id) {
    this.chosen = id;
    this.dispatchEvent(new CustomEvent("evidence", { detail: [] }));
    note({ q: id });
  }

  /** @param {CustomEvent} event */
  asked(event) {
    this.questions.value = [event.detail, ...(this.questions.value ?? [])];
    this.open(event.detail.id);
  }

  /** @param {CustomEvent} event */
  again(event) {
    event.stopPropagation();
    void (
      /** @type {import("./composer.js").AvaComposer | null} */ (this.querySelector("ava-composer"))?.ask(event.detail)
    );
  }

  render() {
    const [video] = this.videos;
    const list = this.questions.value ?? [];
    const indexed = video?.indexed_until_ms ?? 0;
    const until = video && video.status !== "ready" ? clock(indexed) : "";
    const busy = indexed ? "" : t("Nothing is indexed yet. You can ask in a minute.");
    return html`<div class="conversation" @ask=${this.again}>
      <div class="talk" tabindex="0" role="group" aria-label=${t("Questions")}>
        ${this.chosen
          ? html`<div class="row"><button class="button bare" @click=${() => this.open("")}>${t("All questions")}</button></div>
              <ava-answer .of=${this.chosen} data-question=${this.chosen}></ava-answer>`
          : this.questions.show(() =>
              list.length
                ? html`<ul class="plain asked-list">
                    ${list.map(
                      (each) =>
                        html`<li>
                          <button @click=${() => this.open(each.id)}>
                            <span>${each.question}</span
                            ><span class="quiet"
                              >${ago(each.created_at)}${isOpen(each) ? ` · ${t("running")}` : ""}${each.answer
                                ? ` · ${each.answer}`
                                : ""}</span
                            >
                          </button>
                        </li>`,
                    )}
                  </ul>`
                : empty(t("Ask about this video"), t("Each answer names the moments that it rests on."), { picture: "ask" }),
            )}
      </div>
      ${may("questions:write")
        ? html`<ava-composer
            .scope=${{ video_ids: this.videos.map((each) => each.id) }}
            .scopeName=${t("{count, plural, one {This video} other {# videos}}", { count: this.videos.length })}
            .until=${until}
            .busy=${busy}
            .last=${list[0]?.question ?? ""}
            @asked=${this.asked}
          ></ava-composer>`
        : nothing}
    </div>`;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    // Another question is another element.
    const answer = /** @type {import("./answer.js").AvaAnswer | null} */ (this.querySelector("ava-answer"));
    if (answer && changed.get("chosen")) void answer.load();
  }
}

define("ava-conversation", AvaConversation);
