// The tray of uploads at the lower right: it stays while pages change.
import { html, nothing } from "lit";
import { ApiError } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { bytes, lasting, plural } from "../app/format.js";
import { icon } from "../app/icons.js";
import { at } from "../app/session.js";
import { LARGE } from "./core.js";
import { uploads } from "./queue.js";

/** @typedef {import("./transfer.js").Transfer} Transfer */

/** @type {Record<string, string>} */
const WORDS = {
  hashing: "Preparing",
  waiting: "Waiting",
  paused: "Paused",
  elsewhere: "Another tab sends this file",
  completing: "Completing",
  ready: "Ready",
  canceled: "Canceled",
};

class AvaTray extends AppElement {
  static properties = { told: { state: true }, open: { state: true }, offline: { state: true } };

  constructor() {
    super();
    this.told = "";
    this.open = true;
    this.offline = !navigator.onLine;
    this.changed = () => this.requestUpdate();
    this.announced = (/** @type {Event} */ event) => {
      this.told = /** @type {CustomEvent} */ (event).detail;
    };
    this.connection = () => {
      this.offline = !navigator.onLine;
    };
  }

  connectedCallback() {
    super.connectedCallback();
    uploads.addEventListener("change", this.changed);
    uploads.addEventListener("announce", this.announced);
    addEventListener("online", this.connection);
    addEventListener("offline", this.connection);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    uploads.removeEventListener("change", this.changed);
    uploads.removeEventListener("announce", this.announced);
    removeEventListener("online", this.connection);
    removeEventListener("offline", this.connection);
  }

  render() {
    const shown = uploads.transfers.filter((each) => each.state !== "canceled");
    const left = uploads.interrupted;
    const busy = shown.filter((each) => each.state !== "ready").length;
    return html`<p class="sr" role="status" aria-live="polite">${this.told}</p>
      ${shown.length || left.length
        ? html`<section class="tray card" aria-label="Uploads">
            <header>
              <h2>${busy ? `Uploads (${busy})` : "Uploads"}</h2>
              <button
                class="button bare icon"
                aria-expanded=${this.open}
                aria-label=${this.open ? "Fold the uploads" : "Show the uploads"}
                @click=${() => {
                  this.open = !this.open;
                }}
              >
                <span aria-hidden="true">${this.open ? "–" : "+"}</span>
              </button>
            </header>
            ${this.open
              ? html`<div class="body">
                  ${this.offline
                    ? html`<p class="note warn">You are offline. Uploads go on by themselves.</p>`
                    : nothing}
                  ${left.length ? this.interruptedNote(left) : nothing}
                  <ul class="plain">
                    ${shown.map((each) => this.line(each))}
                  </ul>
                </div>`
              : nothing}
          </section>`
        : nothing}`;
  }

  /** @param {import("./core.js").Record[]} left */
  interruptedNote(left) {
    const chosen = (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.files) uploads.add(field.files);
      field.value = "";
    };
    return html`<div class="note stack tight">
      <p>
        ${plural(left.length, "upload was", "uploads were")} interrupted: choose the
        ${left.length === 1 ? "file" : "files"} again to go on.
      </p>
      <ul class="plain">
        ${left.map(
          (record) =>
            html`<li class="spread">
              <span class="cut">${record.name}</span>
              <button class="button bare" @click=${() => uploads.drop(record.id)} aria-label="Give up ${record.name}">
                Give up
              </button>
            </li>`,
        )}
      </ul>
      <label class="button"
        >Choose files<input class="sr" type="file" multiple accept="video/*" @change=${chosen}
      /></label>
    </div>`;
  }

  /** @param {Transfer} transfer */
  line(transfer) {
    const { file, state } = transfer;
    const name = file.name;
    const act = (/** @type {string} */ picture, /** @type {string} */ words, /** @type {() => unknown} */ then) =>
      html`<button class="button bare icon" title=${words} aria-label="${words} ${name}" @click=${then}>
        ${icon(picture)}
      </button>`;
    const share = state === "indexing" ? transfer.indexed : transfer.share;
    return html`<li class="upload">
      <div class="spread">
        <span class="cut grow"
          >${transfer.video ? html`<a href=${at(`videos/${transfer.video}`)}>${name}</a>` : name}</span
        >
        <span class="row">
          ${state === "uploading" || state === "hashing" ? act("pause", "Pause", () => transfer.pause()) : nothing}
          ${state === "paused" ? act("play", "Resume", () => transfer.run()) : nothing}
          ${(state === "failed" && !transfer.video) || state === "elsewhere"
            ? act("again", "Try again", () => transfer.run())
            : nothing}
          ${transfer.video
            ? act("close", "Dismiss", () => uploads.dismiss(transfer))
            : act("close", "Cancel", () => transfer.cancel())}
        </span>
      </div>
      <div
        class="meter ${state === "failed" ? "wrong" : ""}"
        role="progressbar"
        aria-label="${name}"
        aria-valuenow=${Math.round(share * 100)}
      >
        <span .style=${`width:${(share * 100).toFixed(1)}%`}></span>
      </div>
      <p class="quiet num">${this.words(transfer)}</p>
      ${file.size > LARGE && !transfer.video
        ? html`<p class="quiet">For files of this size the command line (<code>ava upload</code>) is the safer way.</p>`
        : nothing}
    </li>`;
  }

  /** @param {Transfer} transfer */
  words(transfer) {
    if (transfer.state === "failed") {
      const { error } = transfer;
      if (error instanceof ApiError) return error.message;
      return transfer.video ? "It could not be indexed: open it to see why." : "It failed.";
    }
    if (transfer.state === "indexing")
      return transfer.indexed ? `Indexing ${Math.round(transfer.indexed * 100)} %` : "Queued for indexing";
    if (transfer.state !== "uploading") return WORDS[transfer.state] ?? "";
    const { rate } = transfer.speed;
    const left = rate ? `, ${lasting(((transfer.file.size - transfer.sent) * 1000) / rate)} left` : "";
    return `${bytes(transfer.sent)} of ${bytes(transfer.file.size)}${rate ? `, ${bytes(rate)}/s` : ""}${left}`;
  }
}

define("ava-tray", AvaTray);
