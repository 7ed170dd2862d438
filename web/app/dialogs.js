// Dialogs that a page opens and waits for, and short words about what has happened.
import { html, nothing, render } from "lit";
import { ApiError } from "../api/client.js";
import { t } from "./language.js";
import { problem } from "./states.js";

/** Return a refusal of the page itself, which a dialog shows like one of the service. @param {string} words */
export const refused = (words) => new ApiError(400, { detail: words, code: "invalid_request" });

/** Say something in a line that disappears, also to a screen reader. @param {string} words */
export function say(words) {
  const line =
    document.querySelector(".toast") ??
    document.body.appendChild(Object.assign(document.createElement("div"), { className: "toast", role: "status" }));
  line.textContent = words;
  clearTimeout(Number(/** @type {HTMLElement} */ (line).dataset.timer));
  /** @type {HTMLElement} */ (line).dataset.timer = String(
    setTimeout(() => {
      line.textContent = "";
    }, 4000),
  );
}

/** Copy a text, and say so. @param {string} text @param {string} [what] */
export async function copy(text, what = t("Copied")) {
  await navigator.clipboard.writeText(text).then(
    () => say(what),
    () => say(t("Copying is not allowed here: select the text.")),
  );
}

/**
 * Show a form in a dialog, and send it. Resolves to what `send` returns, or undefined if the dialog is closed.
 * A refusal is shown in the dialog, which stays open.
 * @template T
 * @param {{title: string, fields: unknown, button?: string, danger?: boolean, send: (data: FormData) => Promise<T> | T}} wanted
 * @returns {Promise<T | undefined>}
 */
export function ask({ title, fields, button = t("Save"), danger = false, send }) {
  const dialog = document.body.appendChild(document.createElement("dialog"));
  return new Promise((done) => {
    /** @type {T | undefined} */
    let result;
    /** @type {unknown} */
    let error;
    let busy = false;
    const submit = async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      if (busy) return;
      [busy, error] = [true, undefined];
      draw();
      try {
        result = await send(new FormData(/** @type {HTMLFormElement} */ (event.target)));
        dialog.close();
      } catch (problem_) {
        error = problem_;
      }
      busy = false;
      draw();
    };
    const draw = () =>
      render(
        html`<form @submit=${submit}>
          <h2>${title}</h2>
          ${fields}${error ? problem(error) : nothing}
          <div class="end">
            <button type="button" class="button" @click=${() => dialog.close()}>${t("Cancel")}</button>
            <button class="button ${danger ? "danger" : "main"}" ?disabled=${busy}>${button}</button>
          </div>
        </form>`,
        dialog,
      );
    draw();
    dialog.setAttribute("aria-label", title);
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(result);
    });
    dialog.showModal();
  });
}

const strong = (/** @type {unknown} */ words) => html`<strong>${words}</strong>`;

/** Ask before something is lost: the person types its name. @param {string} title @param {string} name @param {unknown} words @param {() => Promise<unknown>} act */
export function confirmNamed(title, name, words, act) {
  return ask({
    title,
    danger: true,
    button: title,
    fields: html`<p>${words}</p>
      <div class="field">
        <label for="confirm-name">${t("Type <b>{name}</b> to go on", { name, b: strong })}</label>
        <input class="input" id="confirm-name" name="typed" autocomplete="off" required />
      </div>`,
    send: async (data) => {
      if (String(data.get("typed")).trim() !== name.trim()) throw refused(t("This is not the name."));
      await act();
      return true;
    },
  });
}

/** Ask before an act that can be undone or costs little. @param {string} title @param {unknown} words @param {() => Promise<unknown>} act */
export function confirm(title, words, act) {
  return ask({
    title,
    danger: true,
    button: title,
    fields: html`<p>${words}</p>`,
    send: async () => {
      await act();
      return true;
    },
  });
}

/** Show something with a button to close it. @param {string} title @param {unknown} content @returns {Promise<void>} */
export function show(title, content) {
  const dialog = document.body.appendChild(document.createElement("dialog"));
  render(
    html`<div class="inner">
      <h2>${title}</h2>
      ${content}
      <div class="end"><button class="button main" autofocus @click=${() => dialog.close()}>${t("Close")}</button></div>
    </div>`,
    dialog,
  );
  dialog.setAttribute("aria-label", title);
  dialog.showModal();
  return new Promise((done) =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      done();
    }),
  );
}
