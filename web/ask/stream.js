// A question while it is answered: its stream, or a look every two seconds where streams do not last.
import { ApiError, get, linked } from "../api/client.js";

/** @typedef {import("../api/types.js").Question} Question */
/** @typedef {import("../api/types.js").SearchNode} SearchNode */
/** @typedef {import("../api/types.js").Schemas} Schemas */
/**
 * @typedef {{
 *   progress: (progress: Schemas["ProgressEvent"]) => void, partial: (partial: Schemas["PartialEvent"]) => void,
 *   node: (node: SearchNode) => void, answer: (question: Question) => void, lost: (error: unknown) => void,
 * }} Listener
 */

const FAILURES = 3;
const POLL_MS = 2_000;

export const isOpen = (/** @type {{status: string}} */ question) =>
  question.status === "queued" || question.status === "running";

/** Follow a question until it has its outcome. Returns what ends the following. @param {string} id @param {Listener} listener */
export function follow(id, listener) {
  let failures = 0;
  let isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let polling;
  const stream = new EventSource(linked(`/questions/${id}/stream`));
  const read = (/** @type {Event} */ event) => JSON.parse(/** @type {MessageEvent} */ (event).data);
  const stop = () => {
    isOver = true;
    stream.close();
    clearTimeout(polling);
  };
  const poll = async () => {
    if (isOver) return;
    try {
      /** @type {Question} */
      const question = await get(`/questions/${id}`);
      if (isOver) return;
      if (!isOpen(question)) {
        stop();
        return listener.answer(question);
      }
      listener.progress(question);
      if (question.partial_answer) listener.partial({ id, ...question.partial_answer });
    } catch (error) {
      if (error instanceof ApiError && !error.isTemporary) {
        stop();
        return listener.lost(error);
      }
    }
    polling = setTimeout(poll, POLL_MS);
  };
  stream.addEventListener("progress", (event) => {
    failures = 0;
    listener.progress(read(event));
  });
  stream.addEventListener("partial", (event) => listener.partial(read(event)));
  stream.addEventListener("node", (event) => listener.node(read(event)));
  stream.addEventListener("answer", (event) => {
    stop();
    listener.answer(read(event));
  });
  stream.addEventListener("error", () => {
    failures += 1;
    if (isOver || (failures < FAILURES && stream.readyState !== EventSource.CLOSED)) return;
    stream.close();
    void poll();
  });
  return stop;
}
