// The permanent page of one question.
import { html, nothing } from "lit";
import { newKey, post } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { instant } from "../app/format.js";
import { isWriting } from "../app/keys.js";
import { t } from "../app/language.js";
import { go } from "../app/router.js";
import { at } from "../app/session.js";
import { problem } from "../app/states.js";
import "./answer.js";
import "./dock.js";
import "./trace.js";
import { effortName } from "./words.js";

/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("./dock.js").AvaDock} AvaDock */

class PageQuestion extends AppElement {
  static properties = {
    route: { attribute: false },
    question: { state: true },
    isTraced: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    /** @type {Question | null} */
    this.question = null;
    this.isTraced = false;
    /** @type {unknown} */
    this.error = null;
    this.pressed = (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || !/^[1-9]$/.test(event.key)) return;
      /** @type {HTMLElement | null} */ (this.querySelector(`[data-evidence="${Number(event.key) - 1}"]`))?.click();
    };
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Question")} · AVA Cloud`;
    document.addEventListener("keydown", this.pressed);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.removeEventListener("keydown", this.pressed);
  }

  get dock() {
    return /** @type {AvaDock} */ (this.querySelector("ava-dock"));
  }

  /** @param {CustomEvent} event */
  answered(event) {
    this.question = event.detail;
    document.title = `${event.detail.question} · AVA Cloud`;
    const [first] = event.detail.evidence;
    if (first) void this.dock.show(first, { play: false });
  }

  /** @param {CustomEvent} event */
  async again(event) {
    try {
      const question = await post("/questions", event.detail, { key: newKey(), headers: { Prefer: "respond-async" } });
      go(at(`questions/${question.id}`));
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    const { question } = this;
    const id = this.route?.params.question ?? "";
    return html`<div class="page">
      <p class="crumbs">
        <a href=${at("ask")}>${t("Ask")}</a>${question
          ? html` · ${t("asked {when}", { when: instant(question.created_at) })}`
          : nothing}
      </p>
      ${this.error ? problem(this.error) : nothing}
      <div class="beside">
        <div class="stack">
          <ava-answer
            isWhole
            .of=${id}
            class="card pad"
            @answered=${this.answered}
            @ask=${this.again}
            @play=${(/** @type {CustomEvent} */ event) => this.dock.show(event.detail.evidence)}
          ></ava-answer>
          ${question
            ? html`<details
                  class="card pad"
                  @toggle=${(/** @type {Event} */ event) => {
                    this.isTraced = /** @type {HTMLDetailsElement} */ (event.target).open;
                  }}
                >
                  <summary>${t("How it was found")}</summary>
                  ${this.isTraced ? html`<ava-trace .of=${id}></ava-trace>` : nothing}
                </details>
                ${this.facts(question)}`
            : nothing}
        </div>
        <ava-dock></ava-dock>
      </div>
    </div>`;
  }

  /** @param {Question} question */
  facts(question) {
    const understood = question.understood;
    /** @type {[string, unknown][]} */
    const facts = [
      [t("Method"), html`<code>${question.method} ${question.method_version}</code>`],
      [t("Effort"), effortName(question.effort)],
      [t("Route"), html`<code>${understood?.route ?? question.route}</code>`],
      [t("Time"), understood?.time?.meaning ?? ""],
      [t("Searched for"), understood?.searched ?? ""],
      [t("Counted"), understood?.counted ?? ""],
      [t("Model calls"), question.usage?.calls ?? ""],
      [t("Models"), Object.values(question.models ?? {}).join(", ")],
      [t("Id"), html`<code>${question.id}</code>`],
    ];
    return html`<details class="card pad">
      <summary>${t("How it was understood and answered")}</summary>
      <dl class="facts">
        ${facts
          .filter(([, value]) => value !== "")
          .map(
            ([name, value]) =>
              html` <dt>${name}</dt>
                <dd>${value}</dd>`,
          )}
      </dl>
    </details>`;
  }
}

define("page-question", PageQuestion);
