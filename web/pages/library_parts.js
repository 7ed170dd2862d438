// The parts of the library around the list of videos.
import { html, nothing } from "lit";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { go } from "../app/router.js";
import { at, may } from "../app/session.js";
import { addLink, deleteVideos, editCollection, moveVideos } from "./library_acts.js";

/** @type {[string, string][]} */
const STATES = [
  ["", t("All")], ["ready", t("Ready")], ["indexing", t("Indexing")], ["failed", t("Failed")],
];

/** @param {import("./library.js").PageLibrary} page */
export function aside(page) {
  const link = (/** @type {string} */ id, /** @type {string} */ name) =>
    html`<button
      class="tab-link"
      aria-current=${page.collection === id ? "true" : nothing}
      @click=${() => page.narrow({ collection: id })}
    >
      ${icon(id ? "folder" : "film", 16)}<span class="cut">${name}</span>
    </button>`;
  const kept = page.collections.value ?? [];
  return html`<nav class="collections" aria-label=${t("Collections")}>
    ${link("", t("All videos"))}${kept.map((each) => link(each.id, each.name))}
    ${may("videos:write")
      ? html`<button class="tab-link" @click=${() => editCollection(null, () => page.collections.reload())}>
          ${icon("plus", 16)}<span>${t("New collection")}</span>
        </button>`
      : nothing}
  </nav>`;
}

/** @param {import("./library.js").PageLibrary} page */
export function filters(page) {
  return html`<div class="row wrap">
    <div class="row wrap" role="group" aria-label=${t("State")}>
      ${STATES.map(
        ([value, name]) =>
          html`<button
            class="chip"
            aria-pressed=${page.status === value}
            @click=${() => page.narrow({ status: value })}
          >
            ${name}
          </button>`,
      )}
    </div>
    <span class="grow"></span>
    <input
      class="input filter"
      type="search"
      placeholder=${t("Filter by title")}
      aria-label=${t("Filter the shown videos by title")}
      .value=${page.words}
      @input=${(/** @type {InputEvent} */ event) => {
        page.words = /** @type {HTMLInputElement} */ (event.target).value;
      }}
    />
    <div class="row looks" role="group" aria-label=${t("Look")}>
      <button class="chip" aria-pressed=${page.look === "grid"} @click=${() => page.setLook("grid")}>${t("Grid")}</button>
      <button class="chip" aria-pressed=${page.look === "table"} @click=${() => page.setLook("table")}>${t("Table")}</button>
    </div>
  </div>`;
}

/** @param {import("./library.js").PageLibrary} page */
export function bulk(page) {
  const ids = [...page.chosen];
  const done = () => {
    page.chosen = new Set();
    void page.videos.reload();
  };
  return html`<div class="bulk card row wrap" role="region" aria-label=${t("Chosen videos")}>
    <strong>${t("{count, plural, one {# video} other {# videos}} chosen", { count: ids.length })}</strong>
    ${may("questions:write")
      ? html`<button class="button" @click=${() => go(`${at("ask")}?videos=${ids.join(",")}`)}>
          ${icon("ask", 16)}${t("Ask about these")}
        </button>`
      : nothing}
    ${may("videos:write")
      ? html`<button class="button" @click=${() => moveVideos(ids, page.collections.value ?? [], done)}>
            ${icon("folder", 16)}${t("Move")}
          </button>
          <button class="button danger" @click=${() => deleteVideos(ids, done)}>${icon("trash", 16)}${t("Delete")}</button>`
      : nothing}
    <button
      class="button bare"
      @click=${() => {
        page.chosen = new Set();
      }}
    >
      ${t("Clear")}
    </button>
  </div>`;
}

/** @param {import("./library.js").PageLibrary} page */
export function buttons(page) {
  if (!may("videos:write")) return nothing;
  const chosen = (/** @type {Event} */ event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (field.files) page.send(field.files);
    field.value = "";
  };
  return html`<button class="button" @click=${() => addLink(page.collection, () => page.videos.reload())}>
      ${icon("link", 16)}${t("Paste a link")}
    </button>
    <button class="button main" @click=${page.choose}>${icon("upload", 16)}${t("Upload")}</button>
    <input
      class="sr"
      id="files"
      type="file"
      multiple
      accept="video/*,.mkv,.ts,.avi,.flv,.mpg,.vob"
      tabindex="-1"
      aria-label=${t("Video files")}
      @change=${chosen}
    />`;
}
