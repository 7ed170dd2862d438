import { LitElement, html } from "lit";
import { t } from "./language.js";

/** Waits as long as the service asked for, if it did, then offers to try again. */
export class AvaCountdown extends LitElement {
  static properties = { seconds: { attribute: false }, then: { attribute: false }, left: { state: true } };

  constructor() {
    super();
    this.seconds = 0;
    this.left = 0;
    /** @type {() => void} */
    this.then = () => {};
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.ticking = undefined;
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.left = this.seconds;
    this.ticking = setInterval(() => {
      this.left = Math.max(0, this.left - 1);
      if (!this.left) clearInterval(this.ticking);
    }, 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
  }

  render() {
    return html`<button class="button" ?disabled=${this.left > 0} @click=${() => this.then()}>
      ${this.left > 0 ? t("Try again in {seconds} s", { seconds: this.left }) : t("Try again")}
    </button>`;
  }
}
