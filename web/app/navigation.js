// The navigation: a column on wide screens, a bar at the bottom of phones.
import { html, nothing } from "lit";
import { icon } from "./icons.js";
import { t } from "./language.js";
import { at, may, session } from "./session.js";

/** @type {{path: string, name: string, picture: string, scope: string, pages: string[], short?: boolean}[]} */
const ITEMS = [
  {
    path: "library",
    name: t("Library"),
    picture: "film",
    scope: "videos:read",
    pages: ["library", "watch", "entity"],
    short: true,
  },
  { path: "ask", name: t("Ask"), picture: "ask", scope: "questions:read", pages: ["ask", "question"], short: true },
  { path: "search", name: t("Search"), picture: "search", scope: "questions:write", pages: ["search"], short: true },
  {
    path: "usage",
    name: t("Usage"),
    picture: "usage",
    scope: "usage:read",
    pages: ["usage", "invoices", "budgets"],
    short: true,
  },
];
export const SETTINGS = [
  { path: "settings/keys", name: t("API keys"), picture: "key", scope: "keys:write", pages: ["keys"] },
  {
    path: "settings/webhooks",
    name: t("Webhooks"),
    picture: "hook",
    scope: "webhooks:write",
    pages: ["webhooks", "deliveries"],
  },
  { path: "settings/members", name: t("Members"), picture: "people", scope: "members:read", pages: ["members"] },
  { path: "settings/audit", name: t("Audit log"), picture: "log", scope: "audit:read", pages: ["audit"] },
  { path: "settings/profile", name: t("Profile"), picture: "person", scope: "", pages: ["profile"] },
];

const shown = (/** @type {{scope: string}} */ item) => !item.scope || may(item.scope);

/** Whether the person's role shows a page. @param {string} page */
export const shows = (page) => [...ITEMS, ...SETTINGS].every((item) => !item.pages.includes(page) || shown(item));

/** Return all places that the person may open, in their order. */
export const all = () => [...ITEMS, ...SETTINGS].filter(shown);
export const places = () => all().map((item) => item.path);

/**
 * @param {import("./router.js").Route} route
 * @param {{onTenant: (slug: string) => void, onHelp: () => void, onMore: () => void}} acts
 */
export function navigation(route, { onTenant, onHelp, onMore }) {
  const tenants = session.me?.tenants ?? [];
  const link = (/** @type {typeof SETTINGS[number]} */ item) =>
    html`<a
      class="tab-link"
      href=${at(item.path)}
      title=${item.name}
      aria-current=${item.pages.includes(route.page) ? "page" : nothing}
      >${icon(item.picture)}<span>${item.name}</span></a
    >`;
  const settings = SETTINGS.filter(shown);
  const inSettings = settings.some((item) => item.pages.includes(route.page));
  return html`<nav class="side" aria-label=${t("Main")}>
      <a class="brand" href=${at("")} title="AVA Cloud">${icon("bolt", 20)}<span>AVA Cloud</span></a>
      ${tenants.length > 1
        ? html`<label class="sr" for="tenant">${t("Tenant")}</label>
            <select
              id="tenant"
              class="input tenant"
              @change=${(/** @type {Event} */ event) => onTenant(/** @type {HTMLSelectElement} */ (event.target).value)}
            >
              ${tenants.map(
                (each) => html`<option value=${each.slug} ?selected=${each === session.tenant}>${each.name}</option>`,
              )}
            </select>`
        : html`<p class="house" title=${session.tenant?.name ?? ""}>
            <span class="initial" aria-hidden="true">${session.tenant?.name.slice(0, 1)}</span
            ><span class="cut">${session.tenant?.name}</span>
          </p>`}
      ${ITEMS.filter(shown).map(link)}
      <p class="section">${t("Settings")}</p>
      ${settings.map(link)}
      <div class="foot">
        <button class="button bare" @click=${onHelp} title=${t("Keys")}>
          <kbd>?</kbd><span class="section">${t("Keys")}</span>
        </button>
        <p class="who cut" title=${session.me?.email ?? ""}>${session.me?.email}</p>
      </div>
    </nav>
    <nav class="bottom" aria-label=${t("Main, short")}>
      ${ITEMS.filter((item) => item.short && shown(item)).map(
        (item) =>
          html`<a href=${at(item.path)} aria-current=${item.pages.includes(route.page) ? "page" : nothing}
            >${icon(item.picture, 20)}${item.name}</a
          >`,
      )}
      <button @click=${onMore} aria-current=${inSettings ? "true" : nothing}>${icon("more", 20)}${t("More")}</button>
    </nav>`;
}
