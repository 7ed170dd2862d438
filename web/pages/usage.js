// What was used this month, what it is charged, and what the limits leave.
import { html, nothing } from "lit";
import { get, request, rows } from "../api/client.js";
import { say } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { bytes, day, money, number, partOf } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { empty, skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").Usage} Usage */
/** @typedef {import("../api/types.js").Limits} Limits */
/** @typedef {Usage["data"][number]} Line */

/** @type {[string, string][]} */
const GROUPS = [
  ["meter", t("Meter")], ["video", t("Video")], ["question", t("Question")], ["api_key", t("API key")],
  ["member", t("Member")], ["model", t("Model")],
];
/** @type {Record<string, string>} */
const METERS = {
  media_seconds: t("Recordings indexed"), live_seconds: t("Live recordings"), questions: t("Questions"),
  searches: t("Searches"), comparisons: t("Comparisons"), storage_gb_hours: t("Storage"), egress_gb: t("Playback"),
  input_tokens: t("Tokens read"), output_tokens: t("Tokens written"), device_seconds: t("Device time"),
};
/** @type {Record<string, string>} */
const LIMITS = {
  charge: t("Charge"), free_work: t("Free work in an hour"), media_minutes: t("Minutes indexed"),
  open_jobs: t("Open work"), questions: t("Questions"), retries: t("Retries in an hour"), stored_bytes: t("Storage"),
  tokens: t("Tokens"), videos: t("Videos"),
};

/** @param {Line} line */
export function quantity(line) {
  const value = Number(line.quantity);
  if (line.meter.endsWith("_seconds")) return `${number(Math.round(value / 6) / 10)} min`;
  if (line.meter === "storage_gb_hours") return `${number(Math.round(value * 10) / 10)} GB h`;
  if (line.meter === "egress_gb") return `${number(Math.round(value * 100) / 100)} GB`;
  return number(Math.round(value));
}

export const usageTabs = (/** @type {string} */ now) =>
  html`<nav class="tabs" aria-label=${t("Usage")}>
    ${[
      ["usage", t("Usage")],
      ["usage/invoices", t("Invoices")],
      ["usage/budgets", t("Budgets")],
    ].map(
      ([path, name]) => html`<a href=${at(path ?? "")} aria-current=${path === now ? "page" : nothing}>${name}</a>`,
    )}
  </nav>`;

class PageUsage extends AppElement {
  static properties = { route: { attribute: false }, group: { state: true } };

  constructor() {
    super();
    this.route = null;
    this.group = "meter";
    const now = new Date();
    this.since = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString();
    this.days = new Resource(
      this,
      (signal) => /** @type {Promise<Line[]>} */ (rows("/usage", { from: this.since, group_by: "day" }, 1_000, signal)),
    );
    this.lines = new Resource(
      this,
      (signal) =>
        /** @type {Promise<Usage>} */ (get("/usage", { from: this.since, group_by: this.group, limit: 100 }, signal)),
    );
    this.limits = new Resource(this, (signal) => /** @type {Promise<Limits>} */ (get("/limits", {}, signal)));
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Usage")} · AVA Cloud`;
    for (const each of [this.days, this.lines, this.limits]) void each.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    for (const each of [this.days, this.lines, this.limits]) each.stop();
  }

  /** Save all lines of the month as a file. */
  async save() {
    const query = { from: this.since, group_by: this.group === "meter" ? "day" : `day,${this.group}` };
    const asked = request("GET", "/usage", { query, headers: { Accept: "text/csv" }, text: true });
    const content = await asked.catch((error) => say(error.message));
    if (!content) return;
    const href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href, download: `usage-${this.since.slice(0, 7)}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  render() {
    return html`<div class="page">
      <div class="head">
        <div>
          <h1>${t("Usage")}</h1>
          <p class="under">
            ${t("Since {day}, by the price list, before allowances and tax", { day: day(this.since) })}
          </p>
        </div>
        <div class="actions">
          <button class="button" @click=${() => this.save()}>${icon("download", 16)}CSV</button>
        </div>
      </div>
      ${usageTabs("usage")} ${this.lines.show((usage) => this.figures(usage), skeleton(2))}
      ${this.days.show((lines) => this.chart(lines), html`<div class="bone tall"></div>`)}
      ${this.lines.show((usage) => this.table(usage), skeleton(5))}
      ${this.limits.show((limits) => this.limitsCard(limits), skeleton(3))}
    </div>`;
  }

  /** @param {Usage} usage */
  figures(usage) {
    const now = new Date();
    const passed =
      (now.getTime() - Date.parse(this.since)) /
      (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - Date.parse(this.since));
    const charges = usage.totals.charges.length ? usage.totals.charges : [{ amount: "0", currency: "USD" }];
    return html`<div class="figures">
      ${charges.map(
        (charge) =>
          html`<div class="card figure">
              <span class="quiet">${t("Month to date")}</span><strong>${money(charge.amount, charge.currency)}</strong>
            </div>
            <div class="card figure">
              <span class="quiet">${t("At this pace")}</span
              ><strong>${money(String(Number(charge.amount) / Math.max(0.02, passed)), charge.currency)}</strong
              ><span class="quiet">${t("at the end of the month")}</span>
            </div>`,
      )}
    </div>`;
  }

  /** @param {Line[]} lines */
  chart(lines) {
    /** @type {Map<string, number>} */
    const byDay = new Map();
    for (const line of lines) {
      const name = String(line.group["day"] ?? "").slice(0, 10);
      byDay.set(name, (byDay.get(name) ?? 0) + Number(line.charge.amount));
    }
    const days = [];
    for (let at_ = Date.parse(this.since); at_ <= Date.now(); at_ += 86_400_000)
      days.push(new Date(at_).toISOString().slice(0, 10));
    const most = Math.max(...byDay.values(), 0);
    if (!most)
      return html`<div class="card">
        ${empty(t("Nothing was used yet this month"), t("Here you will see what each day has cost."), {
          picture: "usage",
        })}
      </div>`;
    const currency = lines[0]?.charge.currency ?? "USD";
    const highest = money(String(most), currency);
    return html`<figure class="card" aria-label=${t("Charge by day, at most {amount}", { amount: highest })}>
      <div class="bars" aria-hidden="true">
        ${days.map(
          (name) =>
            html`<span
              class=${byDay.get(name) ? "" : "none"}
              title="${day(name)}: ${money(String(byDay.get(name) ?? 0), currency)}"
              .style=${`height:${((byDay.get(name) ?? 0) / most) * 100}%`}
            ></span>`,
        )}
      </div>
      <div class="axis">
        <span>${day(days[0])}</span><span class="num">${t("most: {amount}", { amount: highest })}</span
        ><span>${day(days.at(-1))}</span>
      </div>
    </figure>`;
  }

  /** @param {Usage} usage */
  table(usage) {
    const group = GROUPS.find(([value]) => value === this.group)?.[1];
    const link = (/** @type {Line} */ line) => {
      const value = String(line.group[this.group] ?? "");
      const target = { video: "videos", question: "questions" }[this.group];
      return this.group === "meter"
        ? (METERS[line.meter] ?? line.meter)
        : !value
          ? "–"
          : target
            ? html`<a href=${at(`${target}/${value}`)}><code>${value}</code></a>`
            : html`<code>${value}</code>`;
    };
    return html`<section class="card">
      <header>
        <h2>${t("By")}</h2>
        <div class="row wrap">
          ${GROUPS.map(
            ([value, name]) =>
              html`<button
                class="chip"
                aria-pressed=${this.group === value}
                @click=${() => {
                  this.group = value;
                  void this.lines.reload();
                }}
              >
                ${name}
              </button>`,
          )}
        </div>
      </header>
      ${usage.data.length
        ? html`<div class="scrolls" tabindex="0" role="group" aria-label=${t("Usage by {group}", { group })}>
            <table>
              <thead>
                <tr>
                  <th>${group}</th>
                  ${this.group === "meter" ? nothing : html`<th>${t("Meter")}</th>`}
                  <th class="right">${t("Quantity")}</th>
                  <th class="right">${t("Charge")}</th>
                </tr>
              </thead>
              <tbody>
                ${usage.data.map(
                  (line) =>
                    html`<tr>
                      <td>${link(line)}</td>
                      ${this.group === "meter" ? nothing : html`<td>${METERS[line.meter] ?? line.meter}</td>`}
                      <td class="right num">${quantity(line)}</td>
                      <td class="right num">${money(line.charge.amount, line.charge.currency)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
        : html`<p class="muted pad">${t("Nothing yet.")}</p>`}
    </section>`;
  }

  /** @param {Limits} limits */
  limitsCard(limits) {
    const shown = (/** @type {string} */ name, /** @type {string} */ value) =>
      name === "stored_bytes"
        ? bytes(Number(value))
        : name === "charge" || name === "free_work"
          ? money(value, limits.currency)
          : number(Math.round(Number(value)));
    return html`<section class="card">
      <header>
        <h2>${t("Limits")}</h2>
        <span class="quiet">${t("Plan {name}", { name: limits.plan })}</span>
      </header>
      <ul class="plain limits">
        ${limits.limits.map((limit) => {
          const share = Number(limit.amount)
            ? Math.min(1, (Number(limit.used) + Number(limit.reserved)) / Number(limit.amount))
            : 0;
          return html`<li>
            <div class="spread">
              <span
                >${LIMITS[limit.name] ?? limit.name}
                <span class="quiet"
                  >${limit.scope === "plan"
                    ? t("of the plan")
                    : limit.scope === "tenant"
                      ? t("set by you")
                      : t("of a key")}</span
                ></span
              >
              <span class="quiet num">${partOf(shown(limit.name, limit.used), shown(limit.name, limit.amount))}</span>
            </div>
            <div class="meter ${share > 0.9 ? "wrong" : ""}" aria-hidden="true">
              <span .style=${`width:${share * 100}%`}></span>
            </div>
          </li>`;
        })}
      </ul>
    </section>`;
  }
}

define("page-usage", PageUsage);
