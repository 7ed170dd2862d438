// Who is signed in, for which tenant, and what this person may do there.
import { t } from "./language.js";

/** @typedef {import("../api/types.js").Me} Me */
/** @typedef {import("../api/types.js").MyTenant} MyTenant */

const LAST = "ava.tenant";

export const session = {
  /** @type {Me | null} */
  me: null,
  /** @type {MyTenant | null} */
  tenant: null,
};

/** Whether the person may do what needs this scope. @param {string} scope */
export const may = (scope) => {
  const scopes = session.tenant?.scopes ?? [];
  return scopes.includes("*") || scopes.includes(scope);
};

/** @type {Record<string, string>} */
const ROLES = {
  owner: t("Owner"), admin: t("Admin"), developer: t("Developer"), analyst: t("Analyst"), viewer: t("Viewer"),
  billing: t("Billing"),
};
export const roleName = (/** @type {string} */ role) => ROLES[role] ?? role;

/** Return the address of a page of the tenant. @param {string} path */
export const at = (path) => `/app/${session.tenant?.slug ?? ""}/${path}`;

/** Return the tenant that an address names, by slug or id; else the last one, or the only one. @param {string} named */
export function chosen(named) {
  const tenants = session.me?.tenants ?? [];
  const is = (/** @type {string | null} */ name) => (/** @type {MyTenant} */ each) =>
    each.slug === name || each.tenant_id === name;
  if (named) return tenants.find(is(named)) ?? null;
  return tenants.find(is(localStorage.getItem(LAST))) ?? (tenants.length === 1 ? tenants[0] : null) ?? null;
}

/** @param {MyTenant} tenant */
export function enter(tenant) {
  session.tenant = tenant;
  localStorage.setItem(LAST, tenant.slug);
}
