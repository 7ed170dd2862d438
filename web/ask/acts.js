// What a person does with an answer: judge it, ask again, clip, report, share.
import { html, nothing } from "lit";
import { get, linked, put } from "../api/client.js";
import { ask, copy, say } from "../app/dialogs.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { at, may } from "../app/session.js";
import { makeClip, shareAnswer } from "../player/acts.js";
import { moreEffort } from "./words.js";

/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("../api/types.js").Method} Method */

/** @param {Question} question @param {"right" | "wrong"} verdict @param {import("./answer.js").AvaAnswer} host */
async function judge(question, verdict, host) {
  const send = (/** @type {Record<string, unknown>} */ body) =>
    put(`/questions/${question.id}/feedback`, { verdict, ...body });
  const feedback =
    verdict === "right"
      ? await send({}).catch((error) => {
          host.error = error;
        })
      : await ask({
          title: t("What is wrong?"),
          button: t("Send"),
          fields: html`<div class="field">
              <label for="right-answer">${t("The right answer (optional)")}</label
              ><textarea class="input" id="right-answer" name="answer" rows="2"></textarea>
            </div>
            <div class="field">
              <label for="wrong-note">${t("A note (optional)")}</label><input class="input" id="wrong-note" name="note" />
            </div>`,
          send: (data) =>
            send({
              ...(data.get("answer") ? { correct_answer: data.get("answer") } : {}),
              note: data.get("note") || "",
            }),
        });
  if (!feedback) return;
  host.question = { ...question, feedback };
  say(t("Thank you. It is kept with the answer."));
}

/** @param {Question} question @param {import("./answer.js").AvaAnswer} host */
async function otherMethod(question, host) {
  /** @type {{data: Method[]}} */
  const { data } = await get("/methods");
  const usable = data.filter((method) => method.usable !== false && method.name !== question.method);
  const method = await ask({
    title: t("Ask by another method"),
    button: t("Ask"),
    fields: html`<div class="field">
        <label for="method">${t("Method")}</label
        ><select class="input" id="method" name="method">
          ${usable.map((each) => html`<option value=${each.name}>${each.name}</option>`)}
        </select>
      </div>
      <ul class="notes small">
        ${usable.map((each) => html`<li><strong>${each.name}</strong> ${each.description}</li>`)}
      </ul>`,
    send: (data_) => String(data_.get("method")),
  });
  if (method) again(question, host, { method });
}

/** @param {Question} question @param {import("./answer.js").AvaAnswer} host @param {Record<string, unknown>} change */
function again(question, host, change) {
  host.dispatchEvent(
    new CustomEvent("ask", {
      bubbles: true,
      detail: {
        question: question.question,
        video_ids: question.video_ids,
        start_ms: question.start_ms,
        end_ms: question.end_ms,
        method: question.method,
        effort: question.effort,
        ...(question.choices.length ? { choices: question.choices } : {}),
        ...change,
      },
    }),
  );
}

/** @param {Question} question */
async function clipEvidence(question) {
  const evidence = question.evidence[0];
  if (!evidence) return;
  const video = await get(`/videos/${evidence.video_id}`).catch(() => null);
  if (!video) return say(t("The recording is not kept any more."));
  await makeClip(video, evidence.start_ms, evidence.end_ms, question.id);
}

/** @param {Question} question @param {import("./answer.js").AvaAnswer} host */
export function answerActs(question, host) {
  const button = (
    /** @type {string} */ picture,
    /** @type {string} */ name,
    /** @type {() => unknown} */ act,
    /** @type {boolean | null} */ pressed = null,
  ) =>
    html`<button class="button bare" aria-pressed=${pressed === null ? nothing : pressed} title=${name} @click=${act}>
      ${icon(picture, 16)}<span class="act-name">${name}</span>
    </button>`;
  const higher = question.method === "ava" ? moreEffort(question.effort) : null;
  const isWider =
    question.finish_reason === "insufficient_evidence" && (question.start_ms !== null || question.end_ms !== null);
  const link = `${location.origin}${at(`questions/${question.id}`)}`;
  const writes = may("questions:write");
  const answered = question.status === "succeeded";
  return html`<div class="acts row wrap">
    ${writes && answered
      ? html`${button("up", t("Right"), () => judge(question, "right", host), question.feedback?.verdict === "right")}
        ${button("down", t("Wrong"), () => judge(question, "wrong", host), question.feedback?.verdict === "wrong")}`
      : nothing}
    ${writes && question.status === "failed" ? button("again", t("Try again"), () => again(question, host, {})) : nothing}
    ${writes && isWider
      ? button("search", t("Ask wider"), () => again(question, host, { start_ms: null, end_ms: null }))
      : nothing}
    ${writes && higher ? button("bolt", t("More effort"), () => again(question, host, { effort: higher })) : nothing}
    ${writes ? button("again", t("Another method"), () => otherMethod(question, host)) : nothing}
    ${may("clips:write") && question.evidence.length
      ? button("clip", t("Clip the evidence"), () => clipEvidence(question))
      : nothing}
    ${answered
      ? html`<a
          class="button bare"
          href=${linked(`/questions/${question.id}/report`, { format: "pdf" })}
          download
          title=${t("Report")}
          >${icon("download", 16)}<span class="act-name">${t("Report")}</span></a
        >`
      : nothing}
    ${may("shares:write") && answered ? button("share", t("Share"), () => shareAnswer(question.id)) : nothing}
    ${button("link", t("Copy link"), () => copy(link, t("Link copied")))}
  </div>`;
}
