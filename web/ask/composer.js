// Where a question is written: its words, its scope, its effort, and what it will cost.
import { html, nothing } from "lit";
import { ApiError, newKey, post } from "../api/client.js";
import { ask, refused } from "../app/dialogs.js";
import { AppElement, define } from "../app/element.js";
import { clock, lasting, money, readClock } from "../app/format.js";
import { t } from "../app/language.js";
import { problem } from "../app/states.js";
import { EFFORTS } from "./words.js";

/** @typedef {import("../api/types.js").QuestionEstimate} QuestionEstimate */
/** @typedef {{video_ids?: string[], collection_id?: string, start_ms?: number | null, end_ms?: number | null}} Scope */

const WAIT_MS = 600;

/** Fires `asked` (the question as it was accepted). */
export class AvaComposer extends AppElement {
  static properties = {
    scope: { attribute: false },
    scopeName: { attribute: false },
    until: { attribute: false },
    session: { attribute: false },
    busy: { attribute: false },
    last: { attribute: false },
    effort: { state: true },
    estimate: { state: true },
    span: { state: true },
    error: { state: true },
    sending: { state: true },
  };

  constructor() {
    super();
    /** @type {Scope} */
    this.scope = {};
    this.scopeName = "";
    /** How much is indexed, where the video is not whole: "1:12:40". */
    this.until = "";
    this.session = "";
    /** Why nothing can be asked now; "" if it can. */
    this.busy = "";
    this.last = "";
    this.effort = localStorage.getItem("ava.effort") ?? "medium";
    /** @type {QuestionEstimate | null} */
    this.estimate = null;
    /** @type {[number, number] | null} */
    this.span = null;
    /** @type {unknown} */
    this.error = null;
    this.sending = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined;
    this.key = newKey();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.typing);
  }

  get field() {
    return /** @type {HTMLTextAreaElement} */ (this.querySelector("textarea"));
  }

  get wanted() {
    if (this.session && !this.span) return { effort: this.effort }; // the session has a scope of its own
    const span = this.span ? { start_ms: this.span[0], end_ms: this.span[1] } : {};
    return { ...this.scope, ...span, effort: this.effort };
  }

  /** Ask for the price, a moment after the last change. The words of a question do not change it. */
  price() {
    clearTimeout(this.typing);
    this.typing = setTimeout(async () => {
      const hasScope = Boolean(this.scope.video_ids?.length || this.scope.collection_id);
      const wanted = hasScope ? { ...this.wanted, ...this.scope } : { effort: this.effort };
      this.estimate = await post("/questions:estimate", wanted).catch(() => null);
    }, WAIT_MS);
  }

  /** @param {SubmitEvent | null} event */
  async send(event = null) {
    event?.preventDefault();
    const words = this.field.value.trim();
    if (!words || this.sending || this.busy) return;
    await this.ask({ ...this.wanted, question: words });
  }

  /** @param {Record<string, unknown>} wanted */
  async ask(wanted) {
    [this.sending, this.error] = [true, null];
    try {
      const question = await post(
        "/questions",
        { ...wanted, ...(this.session ? { session_id: this.session } : {}) },
        { key: this.key, headers: { Prefer: "respond-async" } },
      );
      this.key = newKey();
      this.last = String(wanted.question);
      this.field.value = "";
      this.dispatchEvent(new CustomEvent("asked", { detail: question, bubbles: true }));
    } catch (error) {
      this.error = error;
      if (error instanceof ApiError && !error.isTemporary) this.key = newKey();
    }
    this.sending = false;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void this.send();
    } else if (event.key === "ArrowUp" && !this.field.value && this.last) {
      event.preventDefault();
      this.field.value = this.last;
    }
  }

  async chooseSpan() {
    const [from, until] = this.span ?? [0, 60_000];
    const read = (/** @type {FormDataEntryValue | null} */ text) => {
      const ms = readClock(String(text));
      if (ms === null) throw refused(t("Write times such as 1:02:03 or 75."));
      return ms;
    };
    const span = await ask({
      title: t("Only a part of it"),
      button: t("Use"),
      fields: html`<div class="row">
        <div class="field grow">
          <label for="span-from">${t("From")}</label><input class="input num" id="span-from" name="from" value=${clock(from)} />
        </div>
        <div class="field grow">
          <label for="span-to">${t("To")}</label><input class="input num" id="span-to" name="to" value=${clock(until)} />
        </div>
      </div>`,
      send: (data) => {
        const chosen = /** @type {[number, number]} */ ([read(data.get("from")), read(data.get("to"))]);
        if (chosen[1] <= chosen[0]) throw refused(t("The end lies before the begin."));
        return chosen;
      },
    });
    if (span) {
      this.span = span;
      this.price();
    }
  }

  /** @param {Event} event */
  setEffort(event) {
    this.effort = /** @type {HTMLSelectElement} */ (event.target).value;
    localStorage.setItem("ava.effort", this.effort);
    this.price();
  }

  render() {
    const { estimate } = this;
    const price =
      estimate &&
      t("about {cost}, {time}", {
        cost: money(estimate.charge.expected, estimate.charge.currency),
        time: lasting(estimate.duration_ms.expected),
      });
    return html`<form class="composer" @submit=${this.send}>
      ${this.error ? problem(this.error, () => this.send()) : nothing}
      <div class="row wrap scope">
        <span class="chip" data-scope>${this.scopeName}</span>
        <button type="button" class="chip" @click=${this.chooseSpan}>
          ${this.span ? `${clock(this.span[0])}–${clock(this.span[1])}` : t("All of the time")}
        </button>
        ${this.span
          ? html`<button
              type="button"
              class="button bare"
              @click=${() => {
                this.span = null;
                this.price();
              }}
            >
              ${t("Clear")}
            </button>`
          : nothing}
      </div>
      <label class="sr" for="ask-words">${t("Your question")}</label>
      <textarea
        class="input"
        id="ask-words"
        rows="2"
        ?disabled=${Boolean(this.busy)}
        placeholder=${this.busy ||
        (this.until
          ? t("Ask about the first {time}", { time: this.until })
          : t("Ask about what happens, who, when, how often"))}
        @keydown=${this.pressed}
        @focus=${() => {
          if (!this.estimate) this.price();
        }}
      ></textarea>
      <div class="row wrap">
        <label class="sr" for="ask-effort">${t("Effort")}</label
        ><select class="input auto" id="ask-effort" @change=${this.setEffort}>
          ${EFFORTS.map(
            ([name, title, words]) =>
              html`<option value=${name} title=${words} ?selected=${name === this.effort}>${title}</option>`,
          )}
        </select>
        <span class="quiet num grow" aria-live="polite">${price ?? ""}</span>
        <button class="button main" ?disabled=${this.sending || Boolean(this.busy)}>${t("Ask")}</button>
      </div>
    </form>`;
  }
}

define("ava-composer", AvaComposer);
