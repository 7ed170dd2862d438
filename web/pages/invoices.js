import { html } from "lit";
import { get, linked } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { day, money } from "../app/format.js";
import { t } from "../app/language.js";
import { empty, skeleton } from "../app/states.js";
import { usageTabs } from "./usage.js";

/** @typedef {import("../api/types.js").Invoice} Invoice */

/** @type {Record<string, [string, string]>} */
const STATES = { draft: [t("Draft"), ""], final: [t("Unpaid"), "warn"], paid: [t("Paid"), "good"], void: [t("Void"), ""] };

/** Invoices and credit notes. */
class PageInvoices extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    this.route = null;
    this.invoices = new Resource(
      this,
      async (signal) => /** @type {Invoice[]} */ ((await get("/invoices", { limit: 100 }, signal)).data),
    );
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Invoices")} · AVA Cloud`;
    void this.invoices.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.invoices.stop();
  }

  render() {
    return html`<div class="page">
      <h1>${t("Invoices")}</h1>
      ${usageTabs("usage/invoices")}${this.invoices.show(
        (list) =>
          list.length
            ? this.table(list)
            : html`<div class="card">
                ${empty(t("No invoice yet"), t("The first one comes after the end of the month."), { picture: "log" })}
              </div>`,
        skeleton(5),
      )}
    </div>`;
  }

  /** @param {Invoice[]} list */
  table(list) {
    return html`<div class="card scrolls">
      <table class="folds">
        <thead>
          <tr>
            <th>${t("Number")}</th>
            <th>${t("Month")}</th>
            <th>${t("State")}</th>
            <th class="right">${t("Total")}</th>
            <th class="right">${t("Due")}</th>
            <th></th>
          </tr>
        </thead>
        <tbody>
          ${list.map((invoice) => {
            const [name, kind] = STATES[invoice.state] ?? [invoice.state, ""];
            return html`<tr>
              <th scope="row">
                ${invoice.number || t("Draft")}
                ${invoice.kind === "credit_note" ? html`<span class="badge">${t("Credit note")}</span>` : ""}
              </th>
              <td>${day(invoice.period_start)}</td>
              <td><span class="badge ${kind}">${name}</span></td>
              <td class="right num" data-name=${t("Total")}>${money(invoice.total, invoice.currency)}</td>
              <td class="right num" data-name=${t("Due")}>${money(invoice.due, invoice.currency)}</td>
              <td class="actions">
                <a class="button bare" href=${linked(`/invoices/${invoice.id}/pdf`)} download>PDF</a>
                <a class="button bare" href=${linked(`/invoices/${invoice.id}/csv`)} download>CSV</a>
              </td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }
}

define("page-invoices", PageInvoices);
