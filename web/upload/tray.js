// The tray of uploads at the lower right: it stays while pages change.
import { html, nothing } from "lit";
import { ApiError } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { bytes, lasting, partOf } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { LARGE } from "./core.js";
import { uploads } from "./queue.js";

/** @typedef {import("./transfer.js").Transfer} Transfer */

/** @type {Record<string, string>} */
const WORDS = {
  hashing: t("Preparing"), waiting: t("Waiting"), paused: t("Paused"), elsewhere: t("Another tab sends this file"),
  completing: t("Completing"), ready: t("Ready"), canceled: t("Canceled"),
};

class AvaTray extends AppElement {
  static properties = { told: { state: true }, open: { state: true }, offline: { state: true }, elsewhere: { attribute: false } };

  constructor() {
    super();
    this.told = "";
    this.open = true;
    /** Whether the page has other things at its lower end: what has arrived is then shown by the library alone. */
    this.elsewhere = false;
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
    const shown = uploads.transfers.filter((each) => each.state !== "canceled" && !(this.elsewhere && each.video));
    const left = uploads.interrupted;
    const busy = shown.filter((each) => each.state !== "ready").length;
    return html`<p class="sr" role="status" aria-live="polite">${this.told}</p>
      ${shown.length || left.length
        ? html`<section class="tray card" aria-label=${t("Uploads")}>
            <header>
              <h2>${busy ? t("Uploads ({count})", { count: busy }) : t("Uploads")}</h2>
              <button
                class="button bare icon"
                aria-expanded=${this.open}
                aria-label=${this.open ? t("Fold the uploads") : t("Show the uploads")}
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
                    ? html`<p class="note warn">${t("You are offline. Uploads go on by themselves.")}</p>`
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
        ${t(
          "{count, plural, one {# upload was interrupted: choose the file again to go on.} other {# uploads were interrupted: choose the files again to go on.}}",
          { count: left.length },
        )}
      </p>
      <ul class="plain">
        ${left.map(
          (record) =>
            html`<li class="spread">
              <span class="cut">${record.name}</span>
              <button class="button bare" @click=${() => uploads.drop(record.id)} aria-label=${t("Give up {name}", record)}>
                ${t("Give up")}
              </button>
            </li>`,
        )}
      </ul>
      <label class="button"
        >${t("Choose files")}<input class="sr" type="file" multiple accept="video/*" @change=${chosen}
      /></label>
    </div>`;
  }

  /** @param {Transfer} transfer */
  line(transfer) {
    const { file, state } = transfer;
    const name = file.name;
    const act = (/** @type {string} */ picture, /** @type {string} */ words, /** @type {() => unknown} */ then) =>
      html`<button class="button bare icon" title=${words} aria-label="${words}: ${name}" @click=${then}>
        ${icon(picture)}
      </button>`;
    const share = state === "indexing" ? (transfer.indexed ?? 0) : transfer.share;
    return html`<li class="upload">
      <div class="spread">
        <span class="cut grow"
          >${transfer.video ? html`<a href=${at(`videos/${transfer.video}`)}>${name}</a>` : name}</span
        >
        <span class="row">
          ${state === "uploading" || state === "hashing" ? act("pause", t("Pause"), () => transfer.pause()) : nothing}
          ${state === "paused" ? act("play", t("Resume"), () => transfer.run()) : nothing}
          ${(state === "failed" && !transfer.video) || state === "elsewhere"
            ? act("again", t("Try again"), () => transfer.run())
            : nothing}
          ${transfer.video
            ? act("close", t("Dismiss"), () => uploads.dismiss(transfer))
            : act("close", t("Cancel"), () => transfer.cancel())}
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
        ? html`<p class="quiet">
            ${t("For files of this size the command line ({command}) is the safer way.", {
              command: html`<code>ava upload</code>`,
            })}
          </p>`
        : nothing}
    </li>`;
  }

  /** @param {Transfer} transfer */
  words(transfer) {
    if (transfer.state === "failed") {
      const { error } = transfer;
      if (error instanceof ApiError) return error.message;
      return transfer.video ? t("It could not be indexed: open it to see why.") : t("It failed.");
    }
    if (transfer.state === "indexing")
      return transfer.indexed !== null
        ? t("Indexing {percent} %", { percent: Math.round(transfer.indexed * 100) })
        : t("Queued for indexing");
    if (transfer.state !== "uploading") return WORDS[transfer.state] ?? "";
    const { rate } = transfer.speed;
    const [sent, size] = [bytes(transfer.sent), bytes(transfer.file.size)];
    if (!rate) return partOf(sent, size);
    const left = lasting(((transfer.file.size - transfer.sent) * 1000) / rate);
    return t("{sent} of {size}, {speed}/s, {left} left", { sent, size, speed: bytes(rate), left });
  }
}

define("ava-tray", AvaTray);
