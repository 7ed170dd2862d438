// What states and reasons of a question mean, in words. No DOM.

/** @typedef {import("../api/types.js").Question} Question */

/** @type {Record<string, string>} */
const STAGES = {
  queued: "Waiting for its turn",
  reading: "Reading your question",
  routing: "Reading your question",
  retrieval: "Looking for moments",
  retrieve: "Looking for moments",
  search: "Searching",
  tree: "Searching",
  answer: "Writing the answer",
  answering: "Writing the answer",
  checking: "Looking again at the pictures",
  check: "Looking again at the pictures",
  scan: "Judging every event",
  verify: "Checking each statement",
  compose: "Writing the answer",
};

/** @param {string} stage */
export const stageWords = (stage) =>
  STAGES[stage] ??
  (stage ? `${stage[0]?.toUpperCase()}${stage.slice(1).replaceAll("_", " ")}` : "Waiting for its turn");

/** @type {Record<string, string>} */
const DETAILS = {
  no_events: "Nothing that fits the question was found.",
  nothing_shown: "Nothing that fits the question was found.",
  abstained: "The models say that the events do not answer the question.",
  unsupported: "No event supports any statement of this text. Do not rely on it.",
  contradicted: "The evidence contradicts every statement, so there is no text.",
  no_consensus: "The drawn answers disagree too much.",
  outside_video: "The time that you named lies outside every video.",
  unreadable: "The model gave no readable answer.",
  model_refused: "The model declined to answer.",
  max_tokens: "The limit of tokens was reached.",
  max_calls: "The limit of model calls was reached.",
  max_seconds: "The limit of time was reached.",
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
      title: "Stopped",
      words: "You or somebody else stopped this question. What was done until then is kept.",
    };
  if (question.status === "failed" || question.finish_reason === "error") {
    return {
      kind: "wrong",
      title: "This question could not be answered",
      words: question.error?.message ?? "Ask it again. It is not charged.",
    };
  }
  switch (question.finish_reason) {
    case "insufficient_evidence":
      return {
        kind: "warn",
        title: "Not enough evidence",
        words: detail || "The videos do not show enough to answer this. It is not charged.",
      };
    case "budget":
      return {
        kind: "warn",
        title: "The budget of this question is used up",
        words: detail || "The search ended before it was done. Raise the limit, or ask with less effort.",
      };
    case "refused":
      return {
        kind: "warn",
        title: "The model declined to answer",
        words: detail || "It is not charged. Ask in other words.",
      };
    default:
      return question.finish_detail === "unsupported"
        ? { kind: "warn", title: "Nothing stands behind this text", words: detail }
        : null;
  }
}

/** @param {number | null} confidence */
export function confidenceWords(confidence) {
  if (confidence === null) return "";
  if (confidence >= 0.85) return "Very likely right";
  if (confidence >= 0.65) return "Likely right";
  return confidence >= 0.4 ? "Uncertain" : "Doubtful";
}

/** @type {Record<string, [string, string]>} mark and words */
const MARKS = { supported: ["✓", "supported"], contradicted: ["✗", "contradicted"], unverified: ["?", "unverified"] };

/** @param {string} status @returns {[string, string]} */
export const markOf = (status) => MARKS[status] ?? ["?", status];

/** Say what a question is asked about. @param {{video_ids: string[], start_ms: number | null, end_ms: number | null}} scope @param {(ms: number) => string} at */
export function scopeWords({ video_ids: ids, start_ms: start, end_ms: end }, at) {
  const videos = ids.length === 1 ? "One video" : ids.length ? `${ids.length} videos` : "A collection";
  return start === null && end === null
    ? videos
    : `${videos}, ${at(start ?? 0)} to ${end === null ? "the end" : at(end)}`;
}

/** @type {[string, string, string][]} name, title, what it means */
export const EFFORTS = [
  ["low", "Quick", "One look at the nearest events"],
  ["medium", "Normal", "Searches and checks each statement"],
  ["high", "Thorough", "Searches further and looks at pictures again"],
  ["paper", "As in the paper", "The whole tree search, slow and dear"],
];

/** Return the effort above one; null above the highest. @param {string} effort */
export const moreEffort = (effort) => ({ low: "medium", medium: "high" })[effort] ?? null;
