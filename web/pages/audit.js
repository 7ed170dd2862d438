import { html, nothing } from "lit";
import { get, linked } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { instant } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").AuditEvent} AuditEvent */

/** @type {Record<string, string>} */
const ACTORS = { staff: t("Our staff"), operator: t("The operator"), visitor: t("A visitor") };

/** Administrative acts: who did what, when and from where. */
class PageAudit extends AppElement {
  static properties = { route: { attribute: false }, more: { state: true } };

  constructor() {
    super();
    this.route = null;
    this.cursor = "";
    /** @type {AuditEvent[]} */
    this.more = [];
    this.events = new Resource(this, (signal) => this.page("", signal));
  }

  /** @param {string} cursor @param {AbortSignal} [signal] @returns {Promise<AuditEvent[]>} */
  async page(cursor, signal) {
    const page = await get("/audit-events", { limit: 50, cursor }, signal);
    this.cursor = page.next_cursor ?? "";
    return page.data;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Audit log")} · AVA Cloud`;
    void this.events.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.events.stop();
  }

  render() {
    return html`<div class="page">
      <div class="head">
        <h1>${t("Audit log")}</h1>
        <div class="actions">
          <a class="button" href=${linked("/audit-events/export", { file_type: "csv" })} download
            >${icon("download", 16)}CSV</a
          >
        </div>
      </div>
      ${this.events.show(
        (list) =>
          list.length
            ? html`<div class="card scrolls">
                  <table class="folds">
                    <thead>
                      <tr>
                        <th>${t("When")}</th>
                        <th>${t("Who")}</th>
                        <th>${t("Act")}</th>
                        <th>${t("Of what")}</th>
                        <th>${t("From")}</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${[...list, ...this.more].map(
                        (each) =>
                          html`<tr>
                            <td class="num">${instant(each.occurred_at)}</td>
                            <td>${each.actor.name || (ACTORS[each.actor.type] ?? each.actor.type)}</td>
                            <td><code>${each.action}</code></td>
                            <td>${each.resource_id ? html`<code>${each.resource_id}</code>` : nothing}</td>
                            <td data-name=${t("From")}>${each.address ?? "–"}</td>
                          </tr>`,
                      )}
                    </tbody>
                  </table>
                </div>
                ${this.cursor
                  ? html`<div>
                      <button
                        class="button"
                        @click=${async () => {
                          this.more = [...this.more, ...(await this.page(this.cursor))];
                        }}
                      >
                        ${t("Show more")}
                      </button>
                    </div>`
                  : nothing}`
            : html`<div class="card">
                ${empty(t("Nothing was administered yet"), t("Keys, members, settings and deletions appear here."), {
                  picture: "log",
                })}
              </div>`,
        skeleton(8),
      )}
    </div>`;
  }
}

define("page-audit", PageAudit);
