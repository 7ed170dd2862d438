// Receivers of webhooks: added, tested, their secrets rotated.
import { html, nothing } from "lit";
import { get, newKey, patch, post, remove, rows } from "../api/client.js";
import { ask, confirmNamed, copy, say, show } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { icon } from "../app/icons.js";
import { at, may } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").WebhookEndpoint} WebhookEndpoint */
/** @typedef {{type: string, description: string}} EventType */

/** @type {Record<string, [string, string]>} */
const STATES = { enabled: ["Enabled", "good"], disabled: ["Off", ""], auto_disabled: ["Off after failures", "wrong"] };

const RECIPE = `from standardwebhooks import Webhook

event = Webhook(SECRET).verify(body, headers)   # raises if the signature is wrong`;

/** @param {string} secret */
const shown = (secret) =>
  show(
    "The signing secret",
    html`<p class="secret" data-secret>${secret}</p>
      <div class="row">
        <button class="button main" @click=${() => copy(secret, "Secret copied")}>Copy the secret</button>
      </div>
      <p>Each delivery is signed by the Standard Webhooks rules. To check it in Python:</p>
      <pre>${RECIPE}</pre>
      <p class="note warn">The secret is shown only now.</p>`,
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
    document.title = "Webhooks · AVA Cloud";
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
      title: endpoint ? "Change the receiver" : "New receiver",
      button: endpoint ? "Save" : "Add",
      fields: html`<div class="field">
          <label for="hook-url">Address</label
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
          <label for="hook-words">Description</label
          ><input
            class="input"
            id="hook-words"
            name="description"
            maxlength="200"
            value=${endpoint?.description ?? ""}
          />
        </div>
        <fieldset>
          <legend>Events (none for all)</legend>
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
      title: "Rotate the secret",
      button: "Rotate",
      fields: html`<p>Deliveries are signed with both secrets for a day.</p>`,
      send: () => post(`/webhook-endpoints/${endpoint.id}/rotate-secret`, {}, { key: newKey() }),
    });
    if (made) await shown(made.secret);
  }

  /** @param {WebhookEndpoint} endpoint */
  async test(endpoint) {
    const delivery = await post(`/webhook-endpoints/${endpoint.id}/test`, {}, { key: newKey() }).catch((error) =>
      say(error.message),
    );
    if (delivery) say("A test was sent. See its delivery.");
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
      "Delete the receiver",
      endpoint.url,
      "It gets nothing any more, and its deliveries disappear.",
      () => remove(`/webhook-endpoints/${endpoint.id}`),
    );
    if (done) void this.endpoints.reload();
  }

  render() {
    const adds = may("webhooks:write")
      ? html`<button class="button main" @click=${() => this.edit(null)}>${icon("plus", 16)}New receiver</button>`
      : nothing;
    return html`<div class="page">
      <div class="head">
        <div>
          <h1>Webhooks</h1>
          <p class="under">Your programs learn what has happened without asking.</p>
        </div>
        <div class="actions">${adds}</div>
      </div>
      ${this.endpoints.show(
        (list) =>
          list.length
            ? list.map((each) => this.card(each))
            : html`<div class="card">
                ${empty(
                  "No receiver yet",
                  "Add an address, and it gets an event when a video is ready or a question is answered.",
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
            : "All events"}
        </p>
        ${endpoint.disabled_reason ? html`<p class="invalid">${endpoint.disabled_reason}</p>` : nothing}
        ${endpoint.dead_deliveries
          ? html`<p class="invalid">${endpoint.dead_deliveries} deliveries were given up.</p>`
          : nothing}
        <div class="row wrap">
          <a class="button" href=${at(`settings/webhooks/${endpoint.id}`)}>Deliveries</a>${may("webhooks:write")
            ? html`${button("Send a test", () => this.test(endpoint))}${button("Change", () => this.edit(endpoint))}
              ${button("Rotate the secret", () => this.rotate(endpoint))}${button(
                endpoint.state === "enabled" ? "Turn off" : "Turn on",
                () => this.toggle(endpoint),
              )}${button("Delete", () => this.drop(endpoint), "danger")}`
            : nothing}
        </div>
      </div>
    </section>`;
  }
}

define("page-webhooks", PageWebhooks);
