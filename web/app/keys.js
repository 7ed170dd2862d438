// Keys of every page: ? shows them, / goes to the search, Ctrl-K opens the command menu.
import { html, render } from "lit";
import { icon } from "./icons.js";
import { all } from "./navigation.js";
import { go } from "./router.js";
import { at, session } from "./session.js";
import { show } from "./dialogs.js";

/** Whether an event comes from where people write. @param {Event} event */
export const isWriting = (event) =>
  event
    .composedPath()
    .some(
      (each) =>
        each instanceof Element &&
        each.matches("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]"),
    );

/** Begin to listen. */
export function listen() {
  document.addEventListener(
    "keydown",
    (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return openPalette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || document.querySelector("dialog[open]"))
        return;
      if (event.key === "?" && !event.defaultPrevented) {
        event.preventDefault();
        event.stopImmediatePropagation();
        openHelp();
      } else if (event.key === "/") {
        event.preventDefault();
        const field = document.querySelector("main input[type=search]");
        if (field instanceof HTMLElement) field.focus();
        else go(at("search"));
      }
    },
    { capture: true },
  );
}

/** @type {[string, string][]} */
const EVERYWHERE = [
  ["?", "These keys"],
  ["/", "Search"],
  ["Ctrl K", "Go to a page"],
  ["Esc", "Close"],
];
/** @type {[string, string][]} */
const LIBRARY = [
  ["u", "Upload"],
  ["← → ↑ ↓", "Move between videos"],
  ["Enter", "Open"],
  ["x", "Select"],
];
/** @type {[string, string][]} */
export const WATCH = [
  ["Space, k", "Play or pause"],
  ["j, l", "10 seconds back or on"],
  ["← →", "5 seconds, with Shift 1 second"],
  [", .", "One frame back or on"],
  ["↑ ↓", "Choose a lane"],
  ["[ ]", "Previous or next item of the lane"],
  ["Enter", "Play the item"],
  ["e, Shift e", "Next or previous evidence"],
  ["i, o", "In and out"],
  ["c", "Make a clip"],
  ["g", "Go to a time"],
  ["b", "Repeat between in and out"],
  ["+ −", "Zoom"],
  ["0, z", "Show all, show the item"],
  ["< >", "Slower or faster"],
  ["m, f", "Sound, full screen"],
];

/** Show the keys. */
export function openHelp() {
  const list = (/** @type {string} */ name, /** @type {[string, string][]} */ keys) =>
    html`<h3>${name}</h3>
      <dl class="keys">
        ${keys.map(
          ([key, words]) =>
            html`<dt><kbd>${key}</kbd></dt>
              <dd>${words}</dd>`,
        )}
      </dl>`;
  void show("Keys", html`${list("Everywhere", EVERYWHERE)}${list("Library", LIBRARY)}${list("Watching", WATCH)}`);
}

/** Open the command menu: places, tenants, account. */
export function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Go to");
  const tenants = (session.me?.tenants ?? []).filter((each) => each !== session.tenant);
  const options = [
    ...all().map((item) => ({ name: item.name, href: at(item.path), picture: item.picture })),
    ...tenants.map((each) => ({ name: `Switch to ${each.name}`, href: `/app/${each.slug}/`, picture: "people" })),
    { name: "Account and second factor", href: "/accounts/", picture: "person" },
    { name: "Sign out", href: "/accounts/logout/", picture: "left" },
  ];
  let words = "";
  let chosen = 0;
  const found = () => options.filter((option) => option.name.toLowerCase().includes(words.toLowerCase()));
  const open = (/** @type {number} */ n) => {
    const option = found()[n];
    if (!option) return;
    dialog.close();
    if (option.href.startsWith("/app/")) go(option.href);
    else location.assign(option.href);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen = Math.max(0, Math.min(found().length - 1, chosen + step));
      draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(chosen);
    }
  };
  const write = (/** @type {InputEvent} */ event) => {
    [words, chosen] = [/** @type {HTMLInputElement} */ (event.target).value, 0];
    draw();
  };
  const draw = () =>
    render(
      html`<div class="inner">
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls="places"
          aria-label="Go to"
          placeholder="Go to…"
          aria-activedescendant="place-${chosen}"
          autofocus
          @input=${write}
          @keydown=${key}
        />
        <ul class="plain" id="places" role="listbox" aria-label="Places">
          ${found().map(
            (option, n) =>
              html`<li
                class="option"
                id="place-${n}"
                role="option"
                aria-selected=${n === chosen}
                @click=${() => open(n)}
              >
                ${icon(option.picture)}${option.name}
              </li>`,
          )}
        </ul>
      </div>`,
      dialog,
    );
  draw();
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}
