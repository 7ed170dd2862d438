import { html, nothing } from "lit";
import { put, remove, rows } from "../api/client.js";
import { ask, confirm, say } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { bytes, money, number, partOf } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { may } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";
import { usageTabs } from "./usage.js";

/** @typedef {import("../api/types.js").OwnBudget} OwnBudget */
/** @typedef {import("../api/types.js").ApiKey} ApiKey */

/** @type {[("charge" | "media_minutes" | "questions" | "open_jobs" | "retries" | "stored_bytes"), string, string][]} */
const FIELDS = [
  ["charge", t("Charge of a month"), t("At the list price. Work that would go beyond it is refused.")],
  ["media_minutes", t("Minutes indexed in a month"), ""],
  ["questions", t("Questions in a month"), ""],
  ["open_jobs", t("Open work at once"), ""],
  ["retries", t("Retries within an hour"), ""],
  ["stored_bytes", t("Stored gigabytes"), ""],
];

/** Limits that the tenant sets for itself and for its keys. */
class PageBudgets extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    this.route = null;
    this.budgets = new Resource(
      this,
      (signal) => /** @type {Promise<OwnBudget[]>} */ (rows("/budgets", {}, 200, signal)),
    );
    this.keys = new Resource(this, (signal) =>
      may("keys:read") ? /** @type {Promise<ApiKey[]>} */ (rows("/api-keys", {}, 200, signal)) : Promise.resolve([]),
    );
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Budgets")} · AVA Cloud`;
    void this.budgets.reload();
    void this.keys.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.budgets.stop();
    this.keys.stop();
  }

  /** @param {OwnBudget | null} budget */
  async edit(budget) {
    const value = (/** @type {typeof FIELDS[number][0]} */ name) => {
      const limit = budget?.limits[name];
      return limit === null || limit === undefined
        ? ""
        : name === "stored_bytes"
          ? String(Number(limit) / 1e9)
          : String(limit);
    };
    const saved = await ask({
      title: budget ? t("Change the budget") : t("New budget"),
      fields: html`${budget
        ? nothing
        : html`<div class="field">
            <label for="budget-key">${t("For")}</label
            ><select class="input" id="budget-key" name="key">
              <option value="">${t("The whole tenant")}</option>
              ${(this.keys.value ?? [])
                .filter((key) => !key.revoked_at)
                .map((key) => html`<option value=${key.id}>${t("Key {name}", key)}</option>`)}
            </select>
          </div>`}
      ${FIELDS.map(
        ([name, words, hint]) =>
          html`<div class="field">
            <label for="budget-${name}">${words}</label
            ><input
              class="input num"
              id="budget-${name}"
              name=${name}
              inputmode="decimal"
              value=${value(name)}
              placeholder=${t("No limit")}
            />
            ${hint ? html`<span class="hint">${hint}</span>` : nothing}
          </div>`,
      )}`,
      send: (data) => {
        /** @type {Record<string, unknown>} */
        const body = { api_key_id: budget ? budget.api_key_id : String(data.get("key")) || null };
        for (const [name] of FIELDS) {
          const typed = String(data.get(name)).trim();
          body[name] = !typed
            ? null
            : name === "charge" || name === "media_minutes"
              ? typed
              : name === "stored_bytes"
                ? Math.round(Number(typed) * 1e9)
                : Number(typed);
        }
        return put("/budgets", body);
      },
    });
    if (!saved) return;
    say(t("The budget holds from now on."));
    void this.budgets.reload();
  }

  render() {
    const adds = may("budgets:write")
      ? html`<button class="button main" @click=${() => this.edit(null)}>${icon("plus", 16)}${t("New budget")}</button>`
      : nothing;
    return html`<div class="page">
      <div class="head">
        <h1>${t("Budgets")}</h1>
        <div class="actions">${adds}</div>
      </div>
      ${usageTabs("usage/budgets")}
      ${this.budgets.show(
        (list) =>
          list.length
            ? list.map((budget) => this.card(budget))
            : html`<div class="card">
                ${empty(
                  t("No budget is set"),
                  t("A budget ends work before it costs more than you want, for the whole tenant or for one key."),
                  { picture: "usage", actions: adds },
                )}
              </div>`,
        skeleton(5),
      )}
    </div>`;
  }

  /** @param {OwnBudget} budget */
  card(budget) {
    const key = this.keys.value?.find((each) => each.id === budget.api_key_id);
    const shown = (/** @type {string} */ name, /** @type {string | number | null | undefined} */ value) =>
      value === null || value === undefined
        ? "–"
        : name === "charge"
          ? money(String(value), budget.currency)
          : name === "stored_bytes"
            ? bytes(Number(value))
            : number(value);
    const drop = () =>
      confirm(t("Remove the budget"), t("Its limits end at once."), () => remove(`/budgets/${budget.id}`)).then(() =>
        this.budgets.reload(),
      );
    return html`<section class="card">
      <header>
        <h2>${budget.api_key_id ? t("Key {name}", { name: key?.name ?? budget.api_key_id }) : t("The whole tenant")}</h2>
        ${may("budgets:write")
          ? html`<div class="row">
              <button class="button bare" @click=${() => this.edit(budget)}>${t("Change")}</button
              ><button class="button bare" @click=${drop}>${t("Remove")}</button>
            </div>`
          : nothing}
      </header>
      <ul class="plain limits">
        ${FIELDS.filter(([name]) => budget.limits[name] !== null).map(
          ([name, words]) =>
            html`<li>
              <div class="spread">
                <span>${name === "stored_bytes" ? t("Storage") : words}</span>
                <span class="quiet num">${partOf(shown(name, budget.used[name]), shown(name, budget.limits[name]))}</span>
              </div>
            </li>`,
        )}
      </ul>
    </section>`;
  }
}

define("page-budgets", PageBudgets);
