// Requests to /v1: the session's cookie, the tenant, the CSRF token, problems, and a small cache by ETag.
import { t } from "../app/language.js";

/** @typedef {import("./types.js").Problem} Problem */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Query */

const KEPT = 200; // replies in the cache
let tenant = "";
/** @type {Map<string, {etag: string, body: any}>} */
const kept = new Map();

/** A reply that is no success, or no reply at all (status 0). */
export class ApiError extends Error {
  /** @param {number} status @param {Partial<Problem>} problem @param {number} retryAfter seconds, 0 for none */
  constructor(status, problem, retryAfter = 0) {
    super(problem.detail || t("The service cannot be reached."));
    this.status = status;
    this.code = problem.code ?? (status ? "unknown" : "offline");
    this.requestId = problem.request_id ?? "";
    this.errors = problem.errors ?? [];
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Send all requests in the name of this tenant from now on. @param {string} slug */
export function useTenant(slug) {
  if (slug !== tenant) kept.clear();
  tenant = slug;
}

/** Return an address of the API. @param {string} path @param {Query} [query] */
export function address(path, query = {}) {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") sent.set(name, String(value));
  }
  const words = sent.toString();
  return `/v1${path}${words ? `?${words}` : ""}`;
}

/** Return an address that the browser opens itself, as a stream, picture or download. @param {string} path @param {Query} [query] */
export function linked(path, query = {}) {
  return address(path, { ...query, tenant });
}

const token = () => /(?:^|; )(?:__Host-)?ava_csrf=([^;]*)/.exec(document.cookie)?.[1] ?? "";

/** Return a new text that names one act, so that sending it twice has one effect. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Send a request and return the body of its reply. Rejects with ApiError.
 * @param {string} method @param {string} path
 * @param {{query?: Query, body?: unknown, key?: string, signal?: AbortSignal, headers?: Record<string, string>, text?: boolean}} [options] text: the reply is read as text
 * @returns {Promise<any>}
 */
export async function request(method, path, { query, body, key, signal, headers = {}, text = false } = {}) {
  const target = address(path, query);
  /** @type {Record<string, string>} */
  const sent = { Accept: text ? "*/*" : "application/json", ...headers };
  if (tenant) sent["AVA-Tenant"] = tenant;
  if (method !== "GET") sent["X-CSRFToken"] = token();
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (key) sent["Idempotency-Key"] = key;
  const known = method === "GET" ? kept.get(target) : undefined;
  if (known) sent["If-None-Match"] = known.etag;
  /** @type {Response} */
  let reply;
  try {
    reply = await fetch(target, {
      method,
      headers: sent,
      signal,
      cache: "no-store",
      credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {});
  }
  if (reply.status === 304 && known) return known.body;
  if (!reply.ok) throw await refusal(reply);
  if (reply.status === 204) return null;
  const read = text ? await reply.text() : await reply.json();
  const etag = reply.headers.get("ETag");
  if (method === "GET" && etag) keep(target, etag, read);
  return read;
}

/** @param {string} target @param {string} etag @param {any} body */
function keep(target, etag, body) {
  kept.delete(target);
  kept.set(target, { etag, body });
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
}

/** @param {Response} reply */
async function refusal(reply) {
  /** @type {Partial<Problem>} */
  const problem = await reply.json().catch(() => ({ detail: t("The service answered {status}.", { status: reply.status }) }));
  if (reply.status === 401) toSignIn();
  return new ApiError(reply.status, problem, Number(reply.headers.get("Retry-After")) || 0);
}

/** Leave for the sign-in, which leads back to this page. */
export function toSignIn() {
  location.assign(`/accounts/login/?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** @param {string} path @param {Query} [query] @param {AbortSignal} [signal] */
export const get = (path, query, signal) => request("GET", path, { query, signal });
/** @param {string} path @param {unknown} [body] @param {{key?: string, query?: Query, signal?: AbortSignal, headers?: Record<string, string>}} [options] */
export const post = (path, body, options) => request("POST", path, { body, ...options });
/** @param {string} path @param {unknown} body */
export const patch = (path, body) => request("PATCH", path, { body });
/** @param {string} path @param {unknown} body */
export const put = (path, body) => request("PUT", path, { body });
/** @param {string} path @param {Query} [query] */
export const remove = (path, query) => request("DELETE", path, { query });

/**
 * Return the rows of a list, page by page, until there are no more or as many as wanted.
 * @param {string} path @param {Query} [query] @param {number} [most] @param {AbortSignal} [signal] @returns {Promise<any[]>}
 */
export async function rows(path, query = {}, most = 100, signal) {
  /** @type {any[]} */
  const found = [];
  let cursor = "";
  do {
    const page = await get(path, { ...query, limit: Math.min(100, most - found.length), cursor }, signal);
    found.push(...page.data);
    cursor = page.next_cursor ?? "";
  } while (cursor && found.length < most);
  return found;
}
