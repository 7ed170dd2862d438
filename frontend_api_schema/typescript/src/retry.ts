/** Sending a request again: which, how often and after how long; and one Idempotency-Key for all attempts of a POST. */

import {Unreachable, errorOf, secondsToWait} from "./errors.js";

export interface Retries {
  /** At most so many attempts in all. */
  attempts: number;
  /** Wait before the second attempt, and the longest wait, in seconds; it doubles in between. */
  firstS: number;
  longestS: number;
}

export const STANDARD: Retries = {attempts: 6, firstS: 0.5, longestS: 30};
const KEY = "Idempotency-Key";
const STATUSES = new Set([429, 500, 502, 503, 504]);
const SAFE = new Set(["GET", "HEAD", "PUT", "DELETE"]);

export type Fetch = (request: Request) => Promise<Response>;

/** Return the wait in seconds after the attempt of this number, from 1. */
export function waitS(retries: Retries, attempt: number, response: Response | undefined): number {
  const asked = response === undefined ? undefined : secondsToWait(response.headers);
  const doubled = Math.min(retries.longestS, retries.firstS * 2 ** (attempt - 1));
  return asked ?? doubled * (0.5 + Math.random() / 2);
}

export const sleep = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

/** Return a fetch that sends again where that is safe and may help, and throws ApiError for every refusal. */
export function retrying(send: Fetch, retries: Retries): Fetch {
  return async (request) => {
    if (request.method === "POST" && !request.headers.has(KEY)) {
      request.headers.set(KEY, crypto.randomUUID());
    }
    const key = request.headers.get(KEY) ?? "";
    const repeatable = SAFE.has(request.method) || key !== "";
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= retries.attempts || !repeatable;
      let response: Response | undefined;
      try {
        response = await send(request.clone());
      } catch (error) {
        if (last || request.signal.aborted) {
          throw new Unreachable(`no reply from ${new URL(request.url).host}: ${String(error)}`, key);
        }
      }
      if (response !== undefined) {
        if (response.ok) {
          return response;
        }
        const error = await errorOf(response.clone(), key);
        const again = STATUSES.has(response.status) || error.code === "idempotency_in_progress";
        if (!again || last) {
          throw error;
        }
      }
      await sleep(waitS(retries, attempt, response));
    }
  };
}
