// What stands where there is nothing to show yet: a skeleton, an empty page, or a problem.
import { html, nothing } from "lit";
import { ApiError } from "../api/client.js";
import { icon } from "./icons.js";
import { AvaCountdown } from "./countdown.js";
import { t } from "./language.js";
import { at, may } from "./session.js";

/** @param {number} [lines] @param {boolean} [tall] */
export const skeleton = (lines = 5, tall = false) =>
  html`<div class="bones" aria-hidden="true">
      ${tall ? html`<div class="bone tall"></div>` : nothing}
      ${Array.from(
        { length: lines },
        (_, n) => html`<div class="bone" .style=${`width:${92 - ((n * 17) % 40)}%`}></div>`,
      )}
    </div>
    <p class="sr" role="status">${t("Loading")}</p>`;

/** @param {string} title @param {unknown} words @param {{picture?: string, actions?: unknown}} [options] */
export const empty = (title, words, { picture = "film", actions = nothing } = {}) =>
  html`<div class="empty">
    ${icon(picture, 30)}
    <h2>${title}</h2>
    <p>${words}</p>
    <div class="row wrap">${actions}</div>
  </div>`;

/** What a person does about a refusal, and where. @type {Record<string, (back: string) => [string, string] | undefined>} */
const WAYS = {
  reauthentication_required: (back) => [t("Confirm"), `/accounts/confirm/?next=${back}`],
  second_factor_required: () => [t("Set up a second factor"), "/accounts/2fa/"],
  session_ended: (back) => [t("Sign in again"), `/accounts/logout/?next=${back}`],
  budget_exhausted: () => (may("budgets:write") ? [t("Raise the limit"), at("usage/budgets")] : undefined),
};

/**
 * Say what went wrong, and offer what helps. @param {unknown} error @param {(() => void) | null} [again]
 */
export function problem(error, again = null) {
  if (!(error instanceof ApiError)) {
    console.error(error);
    return html`<div class="problem" role="alert">
      <strong>${t("Something went wrong on this page")}</strong>
      <p>${t("Reload the page to try again.")}</p>
    </div>`;
  }
  const back = encodeURIComponent(location.pathname + location.search);
  const way = WAYS[error.code]?.(back);
  return html`<div class="problem" role="alert">
    <strong>${titles[error.status] ?? t("This did not work")}</strong>
    <p>${error.code === "reauthentication_required" ? t("Confirm that it is you, then try again.") : error.message}</p>
    ${error.code === "budget_exhausted" && !way
      ? html`<p>${t("An owner, an admin or a member for billing can raise the limit.")}</p>`
      : nothing}
    ${error.errors.length > 1 || (error.errors.length && error.errors[0]?.detail !== error.message)
      ? html`<ul>
          ${error.errors.map((each) => html`<li>${each.detail}</li>`)}
        </ul>`
      : nothing}
    <div class="row wrap">
      ${way ? html`<a class="button" href=${way[1]}>${way[0]}</a>` : nothing}
      ${again && error.isTemporary
        ? html`<ava-countdown .seconds=${error.retryAfter} .then=${again}></ava-countdown>`
        : nothing}
      ${error.requestId
        ? html`<span class="quiet">${t("Request {id}", { id: html`<code>${error.requestId}</code>` })}</span>
            <button class="button bare" @click=${() => navigator.clipboard?.writeText(error.requestId)}>
              ${t("Copy")}
            </button>`
        : nothing}
    </div>
  </div>`;
}

/** @type {Record<number, string>} */
const titles = {
  0: t("No connection to the service"), 402: t("A limit is reached"), 403: t("You may not do this"),
  404: t("This is not here"), 409: t("This is not possible now"), 412: t("Somebody else changed it"),
  429: t("Too many requests"), 503: t("The service is busy"),
};

if (!customElements.get("ava-countdown")) customElements.define("ava-countdown", AvaCountdown);
