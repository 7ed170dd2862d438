// The statements of an answer, each with the moments that it rests on.
import { html, nothing } from "lit";
import { clock } from "../app/format.js";
import { t } from "../app/language.js";
import { markOf } from "./words.js";

/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("../api/types.js").Evidence} Evidence */

/** The text of an answer, in the form that was asked for. @param {Question} question */
export function composition(question) {
  const { composition: made } = question;
  if (made?.shape === "table" && made.columns.length) {
    return html`<div class="scrolls">
      <table class="answer-table">
        <thead>
          <tr>
            ${made.columns.map((name) => html`<th>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${made.parts.map(
            (part) =>
              html`<tr>
                ${part.cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
  if (made?.parts.length && (made.shape === "list" || made.shape === "steps")) {
    const items = made.parts.map((part) => html`<li>${part.text}</li>`);
    return made.shape === "steps"
      ? html`<ol class="answer-text">
          ${items}
        </ol>`
      : html`<ul class="answer-text">
          ${items}
        </ul>`;
  }
  return html`<p class="answer-text">${question.answer}</p>`;
}

/** A numbered chip that goes to a moment and repeats it. @param {Evidence} evidence @param {number} n from 0 @param {(n: number) => void} play */
export function chip(evidence, n, play) {
  const [mark, words] = markOf(evidence.status);
  return html`<button
    class="chip evidence ${evidence.status}"
    data-evidence=${n}
    @click=${() => play(n)}
    title="${evidence.video_title}${evidence.quote ? `: ${evidence.quote}` : ""}"
    aria-label=${t("Evidence {n}, {time}, {status}. Play from a second before, again and again", {
      n: n + 1,
      time: clock(evidence.start_ms),
      status: words,
    })}
  >
    <span class="place">${n + 1}</span><span class="num">${clock(evidence.start_ms)}</span
    ><span class="mark" aria-hidden="true">${mark}</span> ${evidence.frame?.thumbnail_url
      ? html`<img class="glimpse" src=${evidence.frame.thumbnail_url} alt="" loading="lazy" />`
      : nothing}
  </button>`;
}

/** @param {Question} question @param {(n: number) => void} play */
export function claims(question, play) {
  const { evidence } = question;
  const chips = (/** @type {number[]} */ numbers) =>
    numbers.map((n) => (evidence[n] ? chip(/** @type {Evidence} */ (evidence[n]), n, play) : nothing));
  const cited = new Set(question.claims.flatMap((claim) => claim.evidence));
  const rest = evidence.map((_, n) => n).filter((n) => !cited.has(n));
  const isOne = question.claims.length === 1 && question.claims[0]?.text.trim() === question.answer.trim();
  if (!question.claims.length && !evidence.length) return nothing;
  return html`<section class="claims" aria-label=${t("Evidence")}>
    ${question.claims.length
      ? html`<ol class="plain">
          ${question.claims.map(
            (claim) =>
              html`<li class="claim ${claim.status}">
                ${isOne
                  ? nothing
                  : html`<p>
                      <span class="mark" title=${markOf(claim.status)[1]}>${markOf(claim.status)[0]}</span
                      ><span class="sr">${markOf(claim.status)[1]}: </span>${claim.text}
                    </p>`}
                <div class="row wrap">${chips(claim.evidence)}</div>
              </li>`,
          )}
        </ol>`
      : nothing}
    ${rest.length
      ? html`<div class="row wrap">
          <span class="quiet"
            >${question.claims.length ? t("Also looked at") : question.answer ? t("Evidence") : t("Nearest moments")}</span
          >${chips(rest)}
        </div>`
      : nothing}
  </section>`;
}
