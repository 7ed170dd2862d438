// One file on its way: parts of it go to object storage, at most six at once, until the service has a video of it.
import { ApiError, get, newKey, post, remove } from "../api/client.js";
import { t } from "../app/language.js";
import { AT_ONCE, ATTEMPTS, Speed, isSame, pauseBefore, range, typeOf } from "./core.js";
import { forget, records, remember } from "./records.js";

/** @typedef {"hashing" | "waiting" | "uploading" | "paused" | "elsewhere" | "completing" | "indexing" | "ready" | "failed" | "canceled"} State */

const sleep = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));
const hasChecks = () => Boolean(globalThis.crypto?.subtle);

/** @param {BufferSource} content */
async function sha256(content) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Fires `change` whenever something that is shown changes. */
export class Transfer extends EventTarget {
  /** @param {File} file @param {{tenant: string, collection?: string}} into */
  constructor(file, { tenant, collection }) {
    super();
    this.file = file;
    this.tenant = tenant;
    this.collection = collection;
    /** @type {State} */
    this.state = "waiting";
    this.error = /** @type {unknown} */ (null);
    this.id = "";
    /** @type {string | null} */
    this.video = null;
    this.indexed = /** @type {number | null} */ (null); // share of the video, 0 to 1; null before it begins
    this.speed = new Speed();
    this.key = newKey();
    this.stop = new AbortController();
    this.partSize = 0;
    this.whole = 0; // bytes of parts that have arrived
    /** @type {Map<number, number>} */
    this.moving = new Map(); // bytes sent of the parts on their way
    /** @type {Promise<unknown>} */
    this.hashing = Promise.resolve();
    this.checked = false;
    /** @type {Map<number, Promise<string>>} */
    this.checksums = new Map();
  }

  get sent() {
    let bytes = this.whole;
    for (const part of this.moving.values()) bytes += part;
    return bytes;
  }

  get share() {
    return this.file.size ? this.sent / this.file.size : 1;
  }

  /** @param {State} state */
  become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }

  /** Send what is missing. Another tab that sends the same upload goes on alone. */
  async run() {
    this.stop = new AbortController();
    this.error = null;
    try {
      await this.begin();
      const free = await withLock(`ava-upload-${this.id}`, () => this.send());
      if (!free) this.become("elsewhere");
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.error = error;
      if (error instanceof ApiError && error.status === 404) {
        forget(this.tenant, this.id);
        this.id = "";
      }
      this.become("failed");
    }
  }

  /** Begin an upload, or take up one that this browser remembers. */
  async begin() {
    this.become("hashing");
    const known = records(this.tenant).find((record) => record.id === this.id || isSame(record, this.file));
    if (known) {
      [this.id, this.checked] = [known.id, known.checked];
      return;
    }
    if (this.id) return; // another tab has ended it
    this.checked = hasChecks();
    /** @type {import("../api/types.js").Upload} */
    const upload = await post(
      "/uploads",
      {
        filename: this.file.name,
        size_bytes: this.file.size,
        content_type: typeOf(this.file.name, this.file.type),
        part_checksums: this.checked,
        ...(this.collection ? { collection_id: this.collection } : {}),
      },
      { key: this.key },
    );
    this.id = upload.id;
    const { name, size, lastModified: modified } = this.file;
    remember(this.tenant, { id: upload.id, name, size, modified, checked: this.checked });
  }

  async send() {
    for (;;) {
      /** @type {import("../api/types.js").Upload} */
      const upload = await get(`/uploads/${this.id}`, {}, this.stop.signal);
      this.partSize = upload.part_size;
      if (upload.status !== "open") return this.finish(upload);
      this.whole = upload.received_parts.reduce((sum, part) => sum + part.size_bytes, 0);
      if (!upload.missing_parts.length) return this.complete(upload);
      this.become("uploading");
      const missing = [...upload.missing_parts];
      const workers = Array.from({ length: Math.min(AT_ONCE, missing.length) }, async () => {
        for (let n = missing.shift(); n !== undefined; n = missing.shift()) await this.sendPart(n);
      });
      await Promise.all(workers).catch((error) => {
        missing.length = 0;
        throw error;
      });
    }
  }

  /** Send one part, again if it does not arrive. @param {number} n */
  async sendPart(n) {
    const [begin, end] = range(n, this.file.size, this.partSize);
    const part = this.file.slice(begin, end);
    const checksum = this.checked ? await this.checksum(n) : "";
    for (let attempt = 1; ; attempt += 1) {
      this.stop.signal.throwIfAborted();
      try {
        /** @type {import("../api/types.js").PartUrls} */
        const {
          data: [target],
        } = await post(
          `/uploads/${this.id}/part-urls`,
          { part_numbers: [n], ...(checksum ? { checksums: { [n]: checksum } } : {}) },
          { signal: this.stop.signal },
        );
        if (target) await this.put(n, target.url, /** @type {Record<string, string>} */ (target.headers), part);
        this.moving.delete(n);
        this.whole += end - begin;
        return;
      } catch (error) {
        this.moving.delete(n);
        if (this.stop.signal.aborted || (error instanceof ApiError && !error.isTemporary && error.code !== "storage"))
          throw error;
        if (attempt >= ATTEMPTS) throw error;
        const asked = error instanceof ApiError ? error.retryAfter * 1000 : 0;
        await online();
        await sleep(Math.max(asked, pauseBefore(attempt)));
      }
    }
  }

  /** Return the checksum of a part of the file. One part at a time is in memory for it. @param {number} n */
  checksum(n) {
    const known = this.checksums.get(n);
    if (known) return known;
    const [begin, end] = range(n, this.file.size, this.partSize);
    const hashed = this.hashing.then(async () => sha256(await this.file.slice(begin, end).arrayBuffer()));
    this.hashing = hashed.catch(() => {});
    this.checksums.set(n, hashed);
    return hashed;
  }

  /** @param {number} n @param {string} url @param {Record<string, string>} headers @param {Blob} part @returns {Promise<void>} */
  put(n, url, headers, part) {
    return new Promise((done, failed) => {
      const sending = new XMLHttpRequest();
      const refuse = (/** @type {number} */ status) =>
        failed(
          new ApiError(status, {
            code: "storage",
            detail: status
              ? t("The storage refused a part ({status}).", { status })
              : t("The storage cannot be reached."),
          }),
        );
      const abort = () => sending.abort();
      sending.open("PUT", url);
      for (const [name, value] of Object.entries(headers)) sending.setRequestHeader(name, value);
      sending.upload.onprogress = (event) => {
        this.moving.set(n, event.loaded);
        this.speed.note(performance.now(), this.sent);
        this.dispatchEvent(new Event("change"));
      };
      sending.onload = () => (sending.status < 300 ? done() : refuse(sending.status));
      sending.onerror = sending.ontimeout = () => refuse(0);
      sending.onabort = () => failed(new DOMException("stopped", "AbortError"));
      sending.onloadend = () => this.stop.signal.removeEventListener("abort", abort);
      this.stop.signal.addEventListener("abort", abort);
      sending.send(part);
    });
  }

  /** @param {import("../api/types.js").Upload} upload with all its parts */
  async complete(upload) {
    this.become("completing");
    const parts = [];
    for (const { part_number, etag } of upload.received_parts) {
      parts.push({ part_number, etag, ...(this.checked ? { sha256: await this.checksum(part_number) } : {}) });
    }
    /** @type {import("../api/types.js").Video} */
    const video = await post(`/uploads/${this.id}/complete`, { parts });
    this.video = video.id;
    forget(this.tenant, this.id);
    this.become("indexing");
  }

  /** @param {import("../api/types.js").Upload} upload that another tab has completed, or that has ended */
  finish(upload) {
    forget(this.tenant, this.id);
    if (upload.video_id === null)
      throw new ApiError(410, { detail: t("This upload has ended. Choose the file again."), code: "ended" });
    this.video = upload.video_id;
    this.whole = this.file.size;
    this.become("indexing");
  }

  pause() {
    this.become("paused");
    this.stop.abort();
    this.moving.clear();
  }

  /** End the upload here and at the service. */
  async cancel() {
    this.become("canceled");
    this.stop.abort();
    forget(this.tenant, this.id);
    if (this.id && !this.video) await remove(`/uploads/${this.id}`).catch(() => {});
  }
}

/** Run something while no other tab does; false if another one does. @param {string} name @param {() => Promise<unknown>} work */
async function withLock(name, work) {
  if (!navigator.locks) {
    await work();
    return true;
  }
  return navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await work();
    return lock !== null;
  });
}

/** Wait until the browser is online. @returns {Promise<void>} */
function online() {
  return navigator.onLine
    ? Promise.resolve()
    : new Promise((done) => addEventListener("online", () => done(), { once: true }));
}
