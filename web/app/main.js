// The frame of the app: who is signed in, the navigation, and the page of the address.
import { html, nothing } from "lit";
import { changes } from "../api/changes.js";
import { get, useTenant } from "../api/client.js";
import { AppElement, Resource, define } from "./element.js";
import { listen, openHelp, openPalette } from "./keys.js";
import { t } from "./language.js";
import { navigation, places, shows } from "./navigation.js";
import * as router from "./router.js";
import { at, chosen, enter, may, roleName, session } from "./session.js";
import { empty, problem, skeleton } from "./states.js";
import "../upload/tray.js";

/** @type {Record<string, () => Promise<unknown>>} */
const MODULES = {
  library: () => import("../pages/library.js"),
  watch: () => import("../player/watch.js"),
  entity: () => import("../pages/entity.js"),
  ask: () => import("../ask/page.js"),
  question: () => import("../ask/question.js"),
  search: () => import("../pages/search.js"),
  usage: () => import("../pages/usage.js"),
  invoices: () => import("../pages/invoices.js"),
  budgets: () => import("../pages/budgets.js"),
  keys: () => import("../pages/keys.js"),
  webhooks: () => import("../pages/webhooks.js"),
  deliveries: () => import("../pages/deliveries.js"),
  members: () => import("../pages/members.js"),
  audit: () => import("../pages/audit.js"),
  profile: () => import("../pages/profile.js"),
};

class AvaApp extends AppElement {
  static properties = { route: { state: true }, failure: { state: true } };

  constructor() {
    super();
    /** @type {router.Route | null} */
    this.route = null;
    /** @type {unknown} */
    this.failure = null;
    /** @type {HTMLElement | null} */
    this.page = null;
    this.me = new Resource(this, async (signal) => {
      session.me = await get("/me", {}, signal);
      return session.me;
    });
  }

  async connectedCallback() {
    super.connectedCallback();
    this.replaceChildren();
    await this.me.reload();
    if (!this.me.value) return;
    listen();
    router.follow((route) => this.open(route));
  }

  /** Open the page of an address. @param {router.Route} route */
  async open(route) {
    const tenant = chosen(route.tenant);
    const before = session.tenant;
    this.route = route;
    this.failure = null;
    if (!tenant) return;
    if (!route.tenant) return router.go(`/app/${tenant.slug}/`, { replace: true });
    enter(tenant);
    useTenant(tenant.slug);
    if (before !== tenant) changes.follow(may);
    if (before && before !== tenant) dispatchEvent(new CustomEvent("ava-tenant"));
    if (!route.path) return router.go(at(places()[0] ?? "settings/profile"), { replace: true });
    const load = MODULES[route.page];
    if (!load || !shows(route.page)) {
      this.page = null;
      return this.requestUpdate();
    }
    try {
      await load();
    } catch (error) {
      this.failure = error;
      return;
    }
    if (this.route !== route) return;
    const page = /** @type {HTMLElement & {route: router.Route}} */ (document.createElement(`page-${route.page}`));
    page.route = route;
    this.page = page;
    this.requestUpdate();
    await this.updateComplete;
    scrollTo(0, 0);
    if (before) this.querySelector("main")?.focus({ preventScroll: true });
  }

  render() {
    const me = this.me.value;
    if (!me) return html`<main>${this.me.show(() => nothing, skeleton(6))}</main>`;
    if (!this.route) return html`<main>${skeleton(6)}</main>`;
    if (!session.tenant || !chosen(this.route.tenant)) return html`<main>${this.nowhere(me)}</main>`;
    return html`<a class="skip" href="#main" @click=${this.skip}>${t("Skip to the content")}</a>
      ${navigation(this.route, {
        onTenant: (slug) => router.go(`/app/${slug}/`),
        onHelp: openHelp,
        onMore: openPalette,
      })}
      <main id="main" tabindex="-1">${this.failure ? problem(this.failure) : (this.page ?? this.missing())}</main>
      ${may("videos:write") ? html`<ava-tray .elsewhere=${this.route.page !== "library"}></ava-tray>` : nothing}`;
  }

  /** @param {Event} event */
  skip(event) {
    event.preventDefault();
    this.querySelector("main")?.focus();
  }

  missing() {
    const page = this.route?.page ?? "";
    const [title, words] = shows(page)
      ? [t("There is no such page"), t("The address is wrong, or the page has moved.")]
      : [
          t("Your role does not show this page"),
          t("You are {role} of {tenant}. Its owners and admins can give you another role.", {
            role: roleName(session.tenant?.role ?? ""),
            tenant: session.tenant?.name,
          }),
        ];
    if (MODULES[page] && shows(page)) return skeleton(8, true);
    return html`<div class="page">
      ${empty(title, words, {
        picture: "search",
        actions: html`<a class="button" href=${at("")}>${t("To the start")}</a>`,
      })}
    </div>`;
  }

  /** What a person sees without a tenant, before they choose one, or at an address of one that they do not reach. @param {import("../api/types.js").Me} me */
  nowhere(me) {
    const named = this.route?.tenant;
    const tenants = me.tenants.map((each) => html`<a class="button" href="/app/${each.slug}/">${each.name}</a>`);
    return html`<div class="page narrow">
      ${me.tenants.length
        ? empty(
            named ? t("You are not a member of this tenant") : t("Choose a tenant"),
            t("You are signed in as {email}.", { email: me.email }),
            { picture: "people", actions: tenants },
          )
        : empty(
            t("You are not a member of any tenant yet"),
            t(
              "You are signed in as {email}. Open the link of your invitation, or ask an owner of your organisation for one.",
              { email: me.email },
            ),
            {
              picture: "people",
              actions: html`<a class="button main" href="/accounts/">${t("See what waits for you")}</a>
                <a class="button" href="/accounts/logout/">${t("Sign out")}</a>`,
            },
          )}
    </div>`;
  }
}

define("ava-app", AvaApp);
