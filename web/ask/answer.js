// One question with its answer, from the first second to the last: status, best answer so far, claims with evidence.
import { html, nothing } from "lit";
import { get, post } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { clock, lasting, money, partOf } from "../app/format.js";
import { t } from "../app/language.js";
import { at, may } from "../app/session.js";
import { problem, skeleton } from "../app/states.js";
import { answerActs } from "./acts.js";
import { claims, composition } from "./claims.js";
import { follow, isOpen } from "./stream.js";
import { confidenceWords, effortName, ending, scopeWords, stageWords } from "./words.js";

/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("../api/types.js").SearchNode} SearchNode */

/** Fires `evidence` (a list), `play` ({evidence, start, end}) and `ask` ({question, effort…}). */
export class AvaAnswer extends AppElement {
  static properties = {
    of: { attribute: false },
    question: { state: true },
    partial: { state: true },
    nodes: { state: true },
    error: { state: true },
    told: { state: true },
    now: { state: true },
    isWhole: { type: Boolean },
  };

  constructor() {
    super();
    /** Id of the question. */
    this.of = "";
    /** @type {Question | null} */
    this.question = null;
    /** @type {import("../api/types.js").Schemas["PartialAnswer"] | null} */
    this.partial = null;
    /** @type {SearchNode[]} */
    this.nodes = [];
    /** @type {unknown} */
    this.error = null;
    this.told = "";
    this.now = Date.now();
    this.isWhole = false;
    this.stop = () => {};
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticking = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop();
    clearInterval(this.ticking);
  }

  async load() {
    this.stop();
    if (this.question?.id !== this.of) [this.question, this.partial, this.nodes] = [null, null, []];
    this.error = null;
    try {
      this.become(await get(`/questions/${this.of}`));
    } catch (error) {
      this.error = error;
      return;
    }
    if (!this.question || !isOpen(this.question)) return;
    this.partial = this.question.partial_answer;
    clearInterval(this.ticking);
    this.ticking = setInterval(() => {
      this.now = Date.now();
    }, 1000);
    this.stop = follow(this.of, {
      progress: ({ status, stage, progress }) => {
        if (this.question) this.question = { ...this.question, status, stage, progress };
      },
      partial: (partial) => {
        this.partial = partial;
      },
      node: (node) => {
        this.nodes = [...this.nodes.filter((each) => each.id !== node.id), node];
      },
      answer: (question) => {
        this.told = t("Answer ready");
        this.become(question);
      },
      lost: (error) => {
        this.error = error;
      },
    });
  }

  /** @param {Question} question */
  become(question) {
    this.question = question;
    if (isOpen(question)) return;
    clearInterval(this.ticking);
    this.dispatchEvent(new CustomEvent("evidence", { detail: question.evidence, bubbles: true }));
    this.dispatchEvent(new CustomEvent("answered", { detail: question, bubbles: true }));
  }

  async cancel() {
    const question = await post(`/questions/${this.of}/cancel`, {}).catch((error) => {
      this.error = error;
    });
    if (question) {
      this.stop();
      this.become(question);
    }
  }

  render() {
    const { question } = this;
    if (this.error) return problem(this.error, () => this.load());
    if (!question) return skeleton(4);
    return html`<article class="answer-card" aria-label=${t("Question and answer")}>
      <header>
        ${this.isWhole
          ? html`<h1 class="asked">${question.question}</h1>`
          : html`<h2 class="asked"><a href=${at(`questions/${question.id}`)}>${question.question}</a></h2>`}
        ${question.choices.length
          ? html`<ol class="choices">
              ${question.choices.map(
                (choice, n) => html`<li class=${question.choice === n ? "is-chosen" : ""}>${choice}</li>`,
              )}
            </ol>`
          : nothing}
        <p class="quiet">
          ${scopeWords(question, clock)} · ${effortName(question.effort)}${question.method === "ava" ? "" : ` · ${question.method}`}
        </p>
      </header>
      <p class="sr" role="status">${this.told}</p>
      ${isOpen(question) ? this.running(question) : this.outcome(question)}
    </article>`;
  }

  /** @param {Question} question */
  running(question) {
    const { progress } = question;
    const begun = new Date(question.started_at ?? question.created_at).getTime();
    const looked = new Set(this.nodes.flatMap((node) => node.events.map((event) => event.event_id))).size;
    const share = progress?.percent ?? null;
    return html`<div class="running">
      <div class="spread">
        <p>
          <span class="pulse" aria-hidden="true"></span>${stageWords(
            question.status === "queued" ? "queued" : question.stage,
          )}
          ${progress?.total ? html`<span class="num">${partOf(progress.done, progress.total)}</span>` : nothing}
          ${progress?.detail ? html`<span class="quiet num" lang="en">${progress.detail}</span>` : nothing}
        </p>
        ${may("questions:write") ? html`<button class="button" @click=${this.cancel}>${t("Stop")}</button>` : nothing}
      </div>
      ${share === null
        ? nothing
        : html`<div class="meter" aria-hidden="true"><span .style=${`width:${share}%`}></span></div>`}
      <p class="quiet num">
        ${lasting(Math.max(0, this.now - begun))}${looked
          ? ` · ${t("{count, plural, one {# moment} other {# moments}} looked at", { count: looked })}`
          : ""}
        ${progress?.seconds_left
          ? ` · ${t("about {time} left", { time: lasting(progress.seconds_left * 1000) })}`
          : ""}${Number(
          question.charge.amount,
        )
          ? ` · ${money(question.charge.amount, question.charge.currency)}`
          : ""}
      </p>
      ${this.partial
        ? html`<div class="so-far">
            <p class="quiet">${t("Best answer so far, may still change")}</p>
            <p>${this.partial.text}</p>
          </div>`
        : nothing}
    </div>`;
  }

  /** @param {Question} question */
  outcome(question) {
    const end = ending(question);
    const play = (/** @type {number} */ n) => {
      const evidence = question.evidence[n];
      if (evidence)
        this.dispatchEvent(
          new CustomEvent("play", {
            bubbles: true,
            detail: { evidence, start: Math.max(0, evidence.start_ms - 1000), end: evidence.end_ms },
          }),
        );
    };
    const spent =
      question.timings && question.started_at && question.completed_at
        ? Date.parse(question.completed_at) - Date.parse(question.created_at)
        : 0;
    return html` ${end
        ? html`<div
            class=${`note ${end.kind === "warn" ? "warn" : ""} ${end.kind === "wrong" ? "problem" : ""}`}
            role=${end.kind === "wrong" ? "alert" : nothing}
            data-end=${question.finish_reason ?? question.status}
          >
            <strong>${end.title}</strong>
            <p>${end.words}</p>
          </div>`
        : nothing}
      ${question.answer ? composition(question) : nothing} ${claims(question, play)}
      ${question.notes.length
        ? html`<details>
            <summary>${t("{count, plural, one {# note} other {# notes}}", { count: question.notes.length })}</summary>
            <ul class="notes">
              ${question.notes.map((note) => html`<li>${note}</li>`)}
            </ul>
          </details>`
        : nothing}
      <p class="quiet num facts-line">
        ${question.confidence === null
          ? nothing
          : html`<span title=${t("Measured: {count} of 100 such answers are right", {
                count: Math.round(question.confidence * 100),
              })}
              >${confidenceWords(question.confidence)} ·</span
            >`}
        ${Number(question.charge.amount)
          ? t("cost {amount}", { amount: money(question.charge.amount, question.charge.currency) })
          : t("not charged")}${spent ? ` · ${lasting(spent)}` : ""}
      </p>
      ${answerActs(question, this)}`;
  }
}

define("ava-answer", AvaAnswer);
