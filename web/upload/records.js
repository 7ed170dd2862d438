// What this browser remembers of open uploads, so that they go on after a reload. One list for each tenant.

/** @typedef {import("./core.js").Record} Record */

const key = (/** @type {string} */ tenant) => `ava.uploads.${tenant}`;

/** @param {string} tenant @returns {Record[]} */
export function records(tenant) {
  try {
    return JSON.parse(localStorage.getItem(key(tenant)) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {string} tenant @param {Record} record */
export function remember(tenant, record) {
  localStorage.setItem(
    key(tenant),
    JSON.stringify([...records(tenant).filter((each) => each.id !== record.id), record]),
  );
}

/** @param {string} tenant @param {string} id */
export function forget(tenant, id) {
  localStorage.setItem(key(tenant), JSON.stringify(records(tenant).filter((each) => each.id !== id)));
}
