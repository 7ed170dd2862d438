// API keys: made and rotated with their text shown once, and revoked.
import { html, nothing } from "lit";
import { newKey, post, remove, rows } from "../api/client.js";
import { ask, confirmNamed, copy, refused, show } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { ago, day } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { may, session } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").ApiKey} ApiKey */

export const SCOPES = [
  "videos:read",
  "videos:write",
  "questions:read",
  "questions:write",
  "clips:write",
  "shares:write",
  "webhooks:write",
  "usage:read",
  "keys:read",
  "keys:write",
  "budgets:write",
  "billing:write",
  "audit:read",
  "members:read",
  "members:write",
  "retention:write",
];
const USUAL = new Set(["videos:read", "videos:write", "questions:read", "questions:write"]);

/** Show the text of a key, which nobody can see again. @param {{name: string, key: string}} made */
const shown = (made) =>
  show(
    t("Your key {name}", made),
    html`<p class="secret" data-secret>${made.key}</p>
      <div class="row wrap">
        <button class="button main" @click=${() => copy(made.key, t("Key copied"))}>${t("Copy the key")}</button>
      </div>
      <p class="note warn">${t("It is shown only now. Keep it where your program reads its secrets.")}</p>`,
  );

class PageKeys extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    this.route = null;
    this.keys = new Resource(this, (signal) => /** @type {Promise<ApiKey[]>} */ (rows("/api-keys", {}, 300, signal)));
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("API keys")} · AVA Cloud`;
    void this.keys.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.keys.stop();
  }

  async make() {
    const key = newKey();
    const made = await ask({
      title: t("New API key"),
      button: t("Make the key"),
      fields: html`<div class="field">
          <label for="key-name">${t("Name, by what will use it")}</label
          ><input class="input" id="key-name" name="name" required maxlength="100" />
        </div>
        <fieldset>
          <legend>${t("It may")}</legend>
          <div class="scopes">
            ${SCOPES.filter(may).map(
              (scope) =>
                html`<label class="check"
                  ><input type="checkbox" name="scope" value=${scope} ?checked=${USUAL.has(scope)} />${scope}</label
                >`,
            )}
          </div>
        </fieldset>
        <div class="row">
          <div class="field grow">
            <label for="key-days">${t("Ends after")}</label
            ><select class="input" id="key-days" name="days">
              <option value="">${t("Never")}</option>
              <option value="30">${t("{count, plural, one {# day} other {# days}}", { count: 30 })}</option>
              <option value="90">${t("{count, plural, one {# day} other {# days}}", { count: 90 })}</option>
              <option value="365">${t("A year")}</option>
            </select>
          </div>
          <div class="field grow">
            <label for="key-ips">${t("Only from (optional)")}</label
            ><input class="input" id="key-ips" name="ips" placeholder="203.0.113.0/24" />
          </div>
        </div>`,
      send: (data) => {
        const scopes = data.getAll("scope");
        if (!scopes.length) throw refused(t("Choose what the key may do."));
        const days = Number(data.get("days"));
        const networks = String(data.get("ips"))
          .split(/[\s,]+/)
          .filter(Boolean);
        return post(
          "/api-keys",
          {
            name: data.get("name"),
            scopes,
            ...(days ? { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() } : {}),
            ...(networks.length ? { allowed_ips: networks } : {}),
          },
          { key },
        );
      },
    });
    if (!made) return;
    await shown(made);
    void this.keys.reload();
  }

  /** @param {ApiKey} key */
  async rotate(key) {
    const made = await ask({
      title: t("Rotate {name}", key),
      button: t("Rotate"),
      fields: html`<p>
          ${t("A new key takes its place. Both work until the old one ends, so that you can change your programs one after another.")}
        </p>
        <div class="field">
          <label for="overlap">${t("The old key ends after")}</label
          ><select class="input" id="overlap" name="overlap">
            <option value="0">${t("At once")}</option>
            <option value="3600">${t("An hour")}</option>
            <option value="86400" selected>${t("A day")}</option>
            <option value="604800">${t("A week")}</option>
          </select>
        </div>`,
      send: (data) =>
        post(`/api-keys/${key.id}/rotate`, { overlap_seconds: Number(data.get("overlap")) }, { key: newKey() }),
    });
    if (!made) return;
    await shown(made);
    void this.keys.reload();
  }

  /** @param {ApiKey} key */
  async revoke(key) {
    const done = await confirmNamed(
      t("Revoke the key"),
      key.name,
      t("Programs that use it are refused at once. This cannot be undone."),
      () => remove(`/api-keys/${key.id}`),
    );
    if (done) void this.keys.reload();
  }

  render() {
    const makes = html`<button class="button main" @click=${this.make}>${icon("plus", 16)}${t("New key")}</button>`;
    return html`<div class="page">
      <div class="head">
        <div>
          <h1>${t("API keys")}</h1>
          <p class="under">
            ${t("Your programs send a key with each request: <a>how</a>.", {
              a: (/** @type {unknown} */ words) => html`<a href="/docs/api">${words}</a>`,
            })}
          </p>
        </div>
        <div class="actions">${makes}</div>
      </div>
      ${this.keys.show(
        (list) =>
          list.length
            ? this.table(list)
            : html`<div class="card">
                ${empty(
                  t("No key yet"),
                  t("Your programs send a key with each request to the API of {tenant}.", { tenant: session.tenant?.name }),
                  { picture: "key", actions: makes },
                )}
              </div>`,
        skeleton(5),
      )}
    </div>`;
  }

  /** @param {ApiKey[]} list */
  table(list) {
    const now = Date.now();
    const ended = (/** @type {ApiKey} */ key) =>
      Boolean(
        (key.revoked_at && Date.parse(key.revoked_at) <= now) || (key.expires_at && Date.parse(key.expires_at) <= now),
      );
    const sorted = [...list].sort((a, b) => Number(ended(a)) - Number(ended(b)));
    return html`<div class="card scrolls">
      <table class="folds">
        <thead>
          <tr>
            <th>${t("Name")}</th>
            <th>${t("Scopes")}</th>
            <th>${t("Last used")}</th>
            <th>${t("Ends")}</th>
            <th><span class="sr">${t("Acts")}</span></th>
          </tr>
        </thead>
        <tbody>
          ${sorted.map(
            (key) =>
              html`<tr>
                <th scope="row">
                  ${key.name}
                  <div class="quiet"><code>${key.hint}…</code></div>
                </th>
                <td class="small">${key.scopes.includes("*") ? t("everything") : key.scopes.join(", ")}</td>
                <td data-name=${t("Last used")}>
                  ${ago(key.last_used_at)}${key.last_used_ip
                    ? html`<div class="quiet">${key.last_used_ip}</div>`
                    : nothing}
                </td>
                <td data-name=${t("Ends")}>
                  ${ended(key)
                    ? html`<span class="badge">${t("Ended")}</span>`
                    : key.revoked_at
                      ? day(key.revoked_at)
                      : key.expires_at
                        ? day(key.expires_at)
                        : t("Never")}
                </td>
                <td class="actions">
                  ${!ended(key)
                    ? html`<button class="button bare" @click=${() => this.rotate(key)} aria-label=${t("Rotate {name}", key)}>
                          ${t("Rotate")}
                        </button>
                        <button
                          class="button bare danger"
                          @click=${() => this.revoke(key)}
                          aria-label=${t("Revoke {name}", key)}
                        >
                          ${t("Revoke")}
                        </button>`
                    : nothing}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
}

define("page-keys", PageKeys);
