// The addresses of the app, on the History API: no page is loaded anew, and each address can be opened by itself.

/** @typedef {{page: string, params: Record<string, string>, query: URLSearchParams, tenant: string, path: string}} Route */

/** Pages by their address below the tenant's. @type {[string, string][]} */
const PAGES = [
  ["", "library"],
  ["library", "library"],
  ["videos/:video", "watch"],
  ["videos/:video/entities/:entity", "entity"],
  ["ask", "ask"],
  ["ask/:session", "ask"],
  ["questions/:question", "question"],
  ["search", "search"],
  ["usage", "usage"],
  ["usage/invoices", "invoices"],
  ["usage/budgets", "budgets"],
  ["settings", "profile"],
  ["settings/keys", "keys"],
  ["settings/webhooks", "webhooks"],
  ["settings/webhooks/:endpoint", "deliveries"],
  ["settings/members", "members"],
  ["settings/audit", "audit"],
  ["settings/profile", "profile"],
];

/** Return what an address means. A page that does not exist is "missing". @param {string} href @returns {Route} */
export function read(href) {
  const url = new URL(href, "http://app");
  const [tenant = "", ...parts] = url.pathname
    .replace(/^\/app\/?/, "")
    .split("/")
    .map(decodeURIComponent);
  const path = parts.filter(Boolean);
  for (const [pattern, page] of PAGES) {
    const wanted = pattern.split("/").filter(Boolean);
    if (wanted.length !== path.length) continue;
    if (!wanted.every((part, n) => part.startsWith(":") || part === path[n])) continue;
    const params = Object.fromEntries(
      wanted.flatMap((part, n) => (part.startsWith(":") ? [[part.slice(1), String(path[n])]] : [])),
    );
    return { page, params, query: url.searchParams, tenant, path: path.join("/") };
  }
  return { page: "missing", params: {}, query: url.searchParams, tenant, path: path.join("/") };
}

/** @type {(route: Route) => void} */
let changed = () => {};
let at = "";

/** Call a function with the route, now and whenever it changes. @param {(route: Route) => void} then */
export function follow(then) {
  changed = then;
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
      return;
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith("/app/")) return;
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
  addEventListener("popstate", tell);
  tell();
}

function tell() {
  const now = location.pathname + location.search;
  if (now === at) return;
  at = now;
  changed(read(now));
}

/** Open an address of the app. @param {string} href @param {{replace?: boolean}} [options] */
export function go(href, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href);
  tell();
}

/** Change the query of this page's address without opening the page again. @param {Record<string, string>} values "" removes */
export function note(values) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  at = url.pathname + url.search;
  history.replaceState(null, "", at + url.hash);
}
