// One video in the library, as a card or as a row of the table.
import { html, nothing, render } from "lit";
import { linked } from "../api/client.js";
import { ago, clock, money } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { styleOf, tilesOf } from "../player/storyboard.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {{isChosen: (id: string) => boolean, toggle: (id: string) => void}} Acts */

const [RESTING_MS, SHOWN] = [300, 12];
/** @type {Record<string, [string, string]>} */
const STATES = {
  queued: [t("Queued"), "busy"], probing: [t("Reading"), "busy"], indexing: [t("Indexing"), "busy"],
  ready: [t("Ready"), "good"], failed: [t("Failed"), "wrong"], deleting: [t("Being deleted"), "warn"],
};

/** @param {Video} video */
export const share = (video) => (video.duration_ms ? Math.min(1, video.indexed_until_ms / video.duration_ms) : 0);

/** @param {Video} video */
export function badge(video) {
  const [name, kind] = STATES[video.status] ?? [video.status, ""];
  const percent = video.status === "indexing" ? ` ${Math.round(share(video) * 100)} %` : "";
  const isRecording = video.source.type === "segments" && video.source.state === "open";
  return isRecording
    ? html`<span class="badge busy">${t("Recording")}${percent}</span>`
    : html`<span class="badge ${kind}">${name}${percent}</span>`;
}

/** @param {Video} video */
const cost = (video) => (Number(video.charge.amount) ? money(video.charge.amount, video.charge.currency) : "");

/** @param {Video} video @param {Acts} acts */
const choice = (video, acts) =>
  html`<input
    type="checkbox"
    aria-label=${t("Choose {name}", { name: video.title })}
    .checked=${acts.isChosen(video.id)}
    @change=${() => acts.toggle(video.id)}
  />`;

/** Lay twelve pictures of a video over its poster, once the pointer rests there. @param {PointerEvent} event @param {Video} video */
async function spread({ currentTarget, pointerType }, video) {
  const poster = /** @type {HTMLElement} */ (currentTarget);
  const sheet = /** @type {HTMLElement} */ (poster.querySelector(".contact-sheet"));
  await new Promise((done) => setTimeout(done, RESTING_MS));
  if (pointerType === "touch" || sheet.childElementCount || !poster.matches(":hover")) return;
  const all = await tilesOf(linked(`/videos/${video.id}/storyboard.vtt`));
  const place = (/** @type {number} */ n) => Math.floor((n * Math.min(SHOWN, all.length)) / all.length);
  sheet.style.zoom = String(poster.offsetWidth / 640); // four tiles of 160 px
  render(all.filter((_, n) => place(n) > place(n - 1)).map((tile) => html`<span .style=${styleOf(tile)}></span>`), sheet);
}

/** @param {Video} video @param {Acts} acts */
export const card = (video, acts) =>
  html`<li class="card video fade">
    <label class="pick">${choice(video, acts)}</label>
    <a class="open" href=${at(`videos/${video.id}`)} data-video=${video.id}>
      <span class="poster" @pointerenter=${(/** @type {PointerEvent} */ event) => spread(event, video)}
        >${video.thumbnail_url
          ? html`<img src=${video.thumbnail_url} alt="" loading="lazy" decoding="async" />`
          : icon("film", 26)}
        ${video.duration_ms === null ? nothing : html`<span class="length num">${clock(video.duration_ms)}</span>`}
        ${video.status === "indexing"
          ? html`<span class="meter"><span .style=${`width:${share(video) * 100}%`}></span></span>`
          : nothing}<span class="contact-sheet"></span></span
      >
      <strong class="cut" title=${video.title}>${video.title || t("Untitled")}</strong></a
    >
    <p class="under">
      ${badge(video)}<span class="quiet">${ago(video.created_at)}</span> ${cost(video)
        ? html`<span class="quiet num">${cost(video)}</span>`
        : nothing}
    </p>
    ${video.error ? html`<p class="invalid">${video.error.message}</p>` : nothing}
  </li>`;

/** @param {Video} video @param {Acts} acts */
export const line = (video, acts) =>
  html`<tr>
    <td>${choice(video, acts)}</td>
    <th scope="row">
      <a class="open" href=${at(`videos/${video.id}`)} data-video=${video.id}>${video.title || t("Untitled")}</a>
      ${video.error ? html`<p class="invalid">${video.error.message}</p>` : nothing}
    </th>
    <td>${badge(video)}</td>
    <td class="right num" data-name=${t("Length")}>${clock(video.duration_ms)}</td>
    <td class="right num" data-name=${t("Indexed")}>${Math.round(share(video) * 100)} %</td>
    <td class="right num" data-name=${t("Cost")}>${cost(video) || "–"}</td>
    <td data-name=${t("Added")}>${ago(video.created_at)}</td>
  </tr>`;
