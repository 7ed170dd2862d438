// What states and reasons of a question mean, in words. No DOM.
import { t } from "../app/language.js";

/** @typedef {import("../api/types.js").Question} Question */

/** @type {Record<string, string>} */
const STAGES = {
  queued: t("Waiting for its turn"), reading: t("Reading your question"), routing: t("Reading your question"),
  retrieval: t("Looking for moments"), retrieve: t("Looking for moments"), search: t("Searching"),
  tree: t("Searching"), answer: t("Writing the answer"), answering: t("Writing the answer"),
  checking: t("Looking again at the pictures"), check: t("Looking again at the pictures"),
  scan: t("Judging every event"), verify: t("Checking each statement"), compose: t("Writing the answer"),
};

/** @param {string} stage */
export const stageWords = (stage) =>
  STAGES[stage] ??
  (stage ? `${stage[0]?.toUpperCase()}${stage.slice(1).replaceAll("_", " ")}` : t("Waiting for its turn"));

/** @type {Record<string, string>} */
const DETAILS = {
  no_events: t("Nothing that fits the question was found."),
  nothing_shown: t("Nothing that fits the question was found."),
  abstained: t("The models say that the events do not answer the question."),
  unsupported: t("No event supports any statement of this text. Do not rely on it."),
  contradicted: t("The evidence contradicts every statement, so there is no text."),
  no_consensus: t("The drawn answers disagree too much."),
  outside_video: t("The time that you named lies outside every video."),
  unreadable: t("The model gave no readable answer."),
  model_refused: t("The model declined to answer."),
  max_tokens: t("The limit of tokens was reached."),
  max_calls: t("The limit of model calls was reached."),
  max_seconds: t("The limit of time was reached."),
};

/**
 * Say how a question ended, if it is not simply answered: a title, what it means, and what helps.
 * @param {Question} question @returns {{kind: "" | "warn" | "wrong", title: string, words: string} | null}
 */
export function ending(question) {
  const detail = DETAILS[question.finish_detail ?? ""] ?? "";
  if (question.status === "canceled" || question.finish_reason === "canceled")
    return {
      kind: "",
      title: t("Stopped"),
      words: t("You or somebody else stopped this question. What was done until then is kept."),
    };
  if (question.status === "failed" || question.finish_reason === "error") {
    return {
      kind: "wrong",
      title: t("This question could not be answered"),
      words: question.error?.message ?? t("Ask it again. It is not charged."),
    };
  }
  switch (question.finish_reason) {
    case "insufficient_evidence":
      return {
        kind: "warn",
        title: t("Not enough evidence"),
        words: detail || t("The videos do not show enough to answer this. It is not charged."),
      };
    case "budget":
      return {
        kind: "warn",
        title: t("The budget of this question is used up"),
        words: detail || t("The search ended before it was done. Raise the limit, or ask with less effort."),
      };
    case "refused":
      return {
        kind: "warn",
        title: t("The model declined to answer"),
        words: detail || t("It is not charged. Ask in other words."),
      };
    default:
      return question.finish_detail === "unsupported"
        ? { kind: "warn", title: t("Nothing stands behind this text"), words: detail }
        : null;
  }
}

/** @param {number | null} confidence */
export function confidenceWords(confidence) {
  if (confidence === null) return "";
  if (confidence >= 0.85) return t("Very likely right");
  if (confidence >= 0.65) return t("Likely right");
  return confidence >= 0.4 ? t("Uncertain") : t("Doubtful");
}

/** @type {Record<string, [string, string]>} mark and words */
const MARKS = {
  supported: ["✓", t("supported")],
  contradicted: ["✗", t("contradicted")],
  unverified: ["?", t("unverified")],
};

/** @param {string} status @returns {[string, string]} */
export const markOf = (status) => MARKS[status] ?? ["?", status];

/** Say what a question is asked about. @param {{video_ids: string[], start_ms: number | null, end_ms: number | null}} scope @param {(ms: number) => string} at */
export function scopeWords({ video_ids: ids, start_ms: start, end_ms: end }, at) {
  const videos = t("{count, plural, =0 {A collection} one {One video} other {# videos}}", { count: ids.length });
  if (start === null && end === null) return videos;
  const from = at(start ?? 0);
  return end === null
    ? t("{videos}, {from} to the end", { videos, from })
    : t("{videos}, {from} to {until}", { videos, from, until: at(end) });
}

/** @type {[string, string, string][]} name, title, what it means */
export const EFFORTS = [
  ["low", t("Quick"), t("One look at the nearest events")],
  ["medium", t("Normal"), t("Searches and checks each statement")],
  ["high", t("Thorough"), t("Searches further and looks at pictures again")],
  ["paper", t("As in the paper"), t("The whole tree search, slow and dear")],
];

export const effortName = (/** @type {string} */ effort) => EFFORTS.find(([name]) => name === effort)?.[1] ?? effort;

/** Return the effort above one; null above the highest. @param {string} effort */
export const moreEffort = (effort) => ({ low: "medium", medium: "high" })[effort] ?? null;
