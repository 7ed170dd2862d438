// Receivers of webhooks: added, tested, their secrets rotated.
import { html, nothing } from "lit";
import { get, newKey, patch, post, remove, rows } from "../api/client.js";
import { ask, confirmNamed, copy, say, show } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").WebhookEndpoint} WebhookEndpoint */
/** @typedef {{type: string, description: string}} EventType */

/** @type {Record<string, [string, string]>} */
const STATES = { enabled: [t("Enabled"), "good"], disabled: [t("Off"), ""], auto_disabled: [t("Off after failures"), "wrong"] };

/** @type {Record<string, string>} */
const REASONS = { gone: t("It answered that it is gone."), dead_deliveries: t("Too many deliveries failed.") };

const RECIPE = `from standardwebhooks import Webhook

event = Webhook(SECRET).verify(body, headers)   # raises if the signature is wrong`;

/** @param {string} secret */
const shown = (secret) =>
  show(
    t("The signing secret"),
    html`<p class="secret" data-secret>${secret}</p>
      <div class="row">
        <button class="button main" @click=${() => copy(secret, t("Secret copied"))}>${t("Copy the secret")}</button>
      </div>
      <p>${t("Each delivery is signed by the Standard Webhooks rules. To check it in Python:")}</p>
      <pre>${RECIPE}</pre>
      <p class="note warn">${t("The secret is shown only now.")}</p>`,
  );

class PageWebhooks extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    this.route = null;
    this.endpoints = new Resource(
      this,
      (signal) => /** @type {Promise<WebhookEndpoint[]>} */ (rows("/webhook-endpoints", {}, 200, signal)),
    );
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Webhooks")} · AVA Cloud`;
    void this.endpoints.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.endpoints.stop();
  }

  /** @param {WebhookEndpoint | null} endpoint */
  async edit(endpoint) {
    /** @type {{data: EventType[]}} */
    const types = await get("/webhook-event-types");
    const chosen = new Set(endpoint?.event_types ?? []);
    const made = await ask({
      title: endpoint ? t("Change the receiver") : t("New receiver"),
      button: endpoint ? t("Save") : t("Add"),
      fields: html`<div class="field">
          <label for="hook-url">${t("Address")}</label
          ><input
            class="input"
            id="hook-url"
            name="url"
            type="url"
            required
            placeholder="https://"
            value=${endpoint?.url ?? ""}
          />
        </div>
        <div class="field">
          <label for="hook-words">${t("Description")}</label
          ><input
            class="input"
            id="hook-words"
            name="description"
            maxlength="200"
            value=${endpoint?.description ?? ""}
          />
        </div>
        <fieldset>
          <legend>${t("Events (none for all)")}</legend>
          ${types.data.map(
            (each) =>
              html`<label class="check" title=${each.description}
                ><input type="checkbox" name="type" value=${each.type} ?checked=${chosen.has(each.type)} />
                <span><code>${each.type}</code></span></label
              >`,
          )}
        </fieldset>`,
      send: (data) => {
        const body = {
          url: data.get("url"),
          description: data.get("description") || "",
          event_types: data.getAll("type"),
        };
        return endpoint
          ? patch(`/webhook-endpoints/${endpoint.id}`, body)
          : post("/webhook-endpoints", body, { key: newKey() });
      },
    });
    if (!made) return;
    if (made.secret) await shown(made.secret);
    void this.endpoints.reload();
  }

  /** @param {WebhookEndpoint} endpoint */
  async rotate(endpoint) {
    const made = await ask({
      title: t("Rotate the secret"),
      button: t("Rotate"),
      fields: html`<p>${t("Deliveries are signed with both secrets for a day.")}</p>`,
      send: () => post(`/webhook-endpoints/${endpoint.id}/rotate-secret`, {}, { key: newKey() }),
    });
    if (made) await shown(made.secret);
  }

  /** @param {WebhookEndpoint} endpoint */
  async test(endpoint) {
    const delivery = await post(`/webhook-endpoints/${endpoint.id}/test`, {}, { key: newKey() }).catch((error) =>
      say(error.message),
    );
    if (delivery) say(t("A test was sent. See its delivery."));
  }

  /** @param {WebhookEndpoint} endpoint */
  async toggle(endpoint) {
    await patch(`/webhook-endpoints/${endpoint.id}`, {
      state: endpoint.state === "enabled" ? "disabled" : "enabled",
    }).catch((error) => say(error.message));
    void this.endpoints.reload();
  }

  /** @param {WebhookEndpoint} endpoint */
  async drop(endpoint) {
    const done = await confirmNamed(
      t("Delete the receiver"),
      endpoint.url,
      t("It gets nothing any more, and its deliveries disappear."),
      () => remove(`/webhook-endpoints/${endpoint.id}`),
    );
    if (done) void this.endpoints.reload();
  }

  render() {
    const adds = html`<button class="button main" @click=${() => this.edit(null)}>
      ${icon("plus", 16)}${t("New receiver")}
    </button>`;
    return html`<div class="page">
      <div class="head">
        <div>
          <h1>${t("Webhooks")}</h1>
          <p class="under">${t("Your programs learn what has happened without asking.")}</p>
        </div>
        <div class="actions">${adds}</div>
      </div>
      ${this.endpoints.show(
        (list) =>
          list.length
            ? list.map((each) => this.card(each))
            : html`<div class="card">
                ${empty(
                  t("No receiver yet"),
                  t("Add an address, and it gets an event when a video is ready or a question is answered."),
                  { picture: "hook", actions: adds },
                )}
              </div>`,
        skeleton(5),
      )}
    </div>`;
  }

  /** @param {WebhookEndpoint} endpoint */
  card(endpoint) {
    const [name, kind] = STATES[endpoint.state] ?? [endpoint.state, ""];
    const button = (/** @type {string} */ words, /** @type {() => unknown} */ act, danger = "") =>
      html`<button class="button bare ${danger}" @click=${act}>${words}</button>`;
    return html`<section class="card">
      <header>
        <div class="grow">
          <h2 class="cut">${endpoint.url}</h2>
          ${endpoint.description ? html`<p class="quiet">${endpoint.description}</p>` : nothing}
        </div>
        <span class="badge ${kind}">${name}</span>
      </header>
      <div class="pad stack tight">
        <p class="small">
          ${endpoint.event_types.length
            ? endpoint.event_types.map((type) => html`<code>${type}</code> `)
            : t("All events")}
        </p>
        ${endpoint.disabled_reason ? html`<p class="invalid">${REASONS[endpoint.disabled_reason] ?? endpoint.disabled_reason}</p>` : nothing}
        ${endpoint.dead_deliveries
          ? html`<p class="invalid">
              ${t("{count, plural, one {# delivery was given up.} other {# deliveries were given up.}}", {
                count: endpoint.dead_deliveries,
              })}
            </p>`
          : nothing}
        <div class="row wrap">
          <a class="button" href=${at(`settings/webhooks/${endpoint.id}`)}>${t("Deliveries")}</a>
          ${button(t("Send a test"), () => this.test(endpoint))}${button(t("Change"), () => this.edit(endpoint))}
          ${button(t("Rotate the secret"), () => this.rotate(endpoint))}
          ${button(endpoint.state === "enabled" ? t("Turn off") : t("Turn on"), () => this.toggle(endpoint))}
          ${button(t("Delete"), () => this.drop(endpoint), "danger")}
        </div>
      </div>
    </section>`;
  }
}

define("page-webhooks", PageWebhooks);
