// Deliveries to one receiver of webhooks, with their attempts; they are sent again from here.
import { html, nothing } from "lit";
import { get, newKey, post } from "../api/client.js";
import { say } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { ago, instant } from "../app/format.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").WebhookDelivery} Delivery */
/** @typedef {import("../api/types.js").WebhookAttempt} Attempt */
/** @typedef {import("../api/types.js").WebhookEndpoint} WebhookEndpoint */

/** @type {Record<string, [string, string]>} */
const STATES = { pending: [t("Waiting"), "busy"], succeeded: [t("Delivered"), "good"], dead: [t("Given up"), "wrong"] };

class PageDeliveries extends AppElement {
  static properties = {
    route: { attribute: false },
    state: { state: true },
    open: { state: true },
    attempts: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    this.state = "";
    this.open = "";
    /** @type {Attempt[] | null} */
    this.attempts = null;
    this.endpoint = new Resource(
      this,
      (signal) => /** @type {Promise<WebhookEndpoint>} */ (get(`/webhook-endpoints/${this.id_}`, {}, signal)),
    );
    this.deliveries = new Resource(
      this,
      async (signal) =>
        /** @type {Delivery[]} */ (
          (await get("/webhook-deliveries", { endpoint_id: this.id_, state: this.state, limit: 100 }, signal)).data
        ),
    );
  }

  get id_() {
    return this.route?.params.endpoint ?? "";
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Deliveries")} · AVA Cloud`;
    void this.endpoint.reload();
    void this.deliveries.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.endpoint.stop();
    this.deliveries.stop();
  }

  /** @param {string} id */
  async look(id) {
    this.open = this.open === id ? "" : id;
    this.attempts = null;
    if (!this.open) return;
    const page = await get(`/webhook-deliveries/${id}/attempts`, { limit: 50 }).catch(() => ({ data: [] }));
    if (this.open === id) this.attempts = page.data;
  }

  /** @param {string} id */
  async replay(id) {
    const done = await post(`/webhook-deliveries/${id}/replay`, {}, { key: newKey() }).catch((error) =>
      say(error.message),
    );
    if (done) say(t("It is sent again."));
    void this.deliveries.reload();
  }

  render() {
    return html`<div class="page">
      <p class="crumbs"><a href=${at("settings/webhooks")}>${t("Webhooks")}</a></p>
      <h1>${this.endpoint.value?.url ?? t("Deliveries")}</h1>
      <div class="row wrap">
        ${[["", t("All")], ...Object.entries(STATES).map(([value, [name]]) => [value, name])].map(
          ([value, name]) =>
            html`<button
              class="chip"
              aria-pressed=${this.state === value}
              @click=${() => {
                this.state = value ?? "";
                void this.deliveries.reload();
              }}
            >
              ${name}
            </button>`,
        )}<span class="grow"></span><button class="button" @click=${() => this.deliveries.reload()}>${t("Refresh")}</button>
      </div>
      ${this.deliveries.show(
        (list) =>
          list.length
            ? this.table(list)
            : html`<div class="card">
                ${empty(t("No delivery"), t("Send a test, or wait until something happens."), {
                  picture: "hook",
                  actions: html`<a class="button" href=${at("settings/webhooks")}>${t("Back")}</a>`,
                })}
              </div>`,
        skeleton(6),
      )}
    </div>`;
  }

  /** @param {Delivery[]} list */
  table(list) {
    return html`<div class="card scrolls">
      <table class="folds">
        <thead>
          <tr>
            <th>${t("Event")}</th>
            <th>${t("State")}</th>
            <th class="right">${t("Attempts")}</th>
            <th>${t("When")}</th>
            <th><span class="sr">${t("Acts")}</span></th>
          </tr>
        </thead>
        <tbody>
          ${list.map((each) => {
            const [name, kind] = STATES[each.state] ?? [each.state, ""];
            return html`<tr>
                <th scope="row">
                  <code>${each.event_type}</code>
                  <div class="quiet">${each.resource_id}</div>
                </th>
                <td><span class="badge ${kind}">${name}</span></td>
                <td class="right num" data-name=${t("Attempts")}>${each.attempts}</td>
                <td data-name=${t("When")}>
                  ${ago(each.created_at)}${each.next_attempt_at && each.state === "pending"
                    ? html`<div class="quiet">${t("next {when}", { when: ago(each.next_attempt_at) })}</div>`
                    : nothing}
                </td>
                <td class="actions">
                  <button class="button bare" aria-expanded=${this.open === each.id} @click=${() => this.look(each.id)}>
                    ${t("Attempts")}
                  </button>
                  <button class="button bare" @click=${() => this.replay(each.id)}>${t("Send again")}</button>
                </td>
              </tr>
              ${this.open === each.id
                ? html`<tr>
                    <td colspan="5">
                      ${this.attempts
                        ? html`<ul class="plain stack tight">
                            ${this.attempts.map(
                              (attempt) =>
                                html`<li>
                                  <span class="num">${instant(attempt.attempted_at)}</span>
                                  <span
                                    class="badge ${attempt.status_code && attempt.status_code < 300 ? "good" : "wrong"}"
                                    >${attempt.status_code ?? html`<code>${attempt.error_code}</code>`}</span
                                  >
                                  <span class="quiet num">${attempt.latency_ms} ms</span> ${attempt.response_excerpt
                                    ? html`<pre>${attempt.response_excerpt}</pre>`
                                    : nothing}
                                </li>`,
                            )}
                          </ul>`
                        : skeleton(2)}
                    </td>
                  </tr>`
                : nothing}`;
          })}
        </tbody>
      </table>
    </div>`;
  }
}

define("page-deliveries", PageDeliveries);
