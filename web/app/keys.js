// Keys of every page: ? shows them, / goes to the search, Ctrl-K opens the command menu.
import { html, render } from "lit";
import { icon } from "./icons.js";
import { t } from "./language.js";
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
  ["?", t("These keys")], ["/", t("Search")], [t("Ctrl K"), t("Go to a page")], ["Esc", t("Close")],
];
/** @type {[string, string][]} */
const LIBRARY = [
  ["u", t("Upload")], ["← → ↑ ↓", t("Move between videos")], [t("Enter"), t("Open")], ["x", t("Select")],
];
/** @type {[string, string][]} */
export const WATCH = [
  [t("Space, k"), t("Play or pause")], ["j, l", t("10 seconds back or on")],
  ["← →", t("5 seconds, with Shift 1 second")], [", .", t("One frame back or on")], ["↑ ↓", t("Choose a lane")],
  ["[ ]", t("Previous or next item of the lane")], [t("Enter"), t("Play the item")],
  [t("e, Shift e"), t("Next or previous evidence")], ["i, o", t("In and out")], ["c", t("Make a clip")],
  ["g", t("Go to a time")], ["b", t("Repeat between in and out")], ["+ −", t("Zoom")],
  ["0, z", t("Show all, show the item")], ["< >", t("Slower or faster")], ["m, f", t("Sound, full screen")],
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
  void show(
    t("Keys"),
    html`${list(t("Everywhere"), EVERYWHERE)}${list(t("Library"), LIBRARY)}${list(t("Watching"), WATCH)}`,
  );
}

/** Open the command menu: places, tenants, account. */
export function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.className = "palette";
  dialog.setAttribute("aria-label", t("Go to"));
  const tenants = (session.me?.tenants ?? []).filter((each) => each !== session.tenant);
  const options = [
    ...all().map((item) => ({ name: item.name, href: at(item.path), picture: item.picture })),
    ...tenants.map(({ name: tenant, slug }) => {
      return { name: t("Switch to {tenant}", { tenant }), href: `/app/${slug}/`, picture: "people" };
    }),
    { name: t("Account and second factor"), href: "/accounts/", picture: "person" },
    { name: t("Sign out"), href: "/accounts/logout/", picture: "left" },
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
          aria-label=${t("Go to")}
          placeholder=${t("Go to…")}
          aria-activedescendant="place-${chosen}"
          autofocus
          @input=${write}
          @keydown=${key}
        />
        <ul class="plain" id="places" role="listbox" aria-label=${t("Places")}>
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
