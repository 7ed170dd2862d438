// How the timeline looks, and what it says to a screen reader.
import { html, nothing } from "lit";
import { number, partOf } from "../app/format.js";
import { t } from "../app/language.js";
import { styleOf } from "../player/storyboard.js";
import { itemAt, layout } from "./hit.js";

/** Place the tip beside the pointer; a picture stands above. @param {import("./timeline.js").AvaTimeline} timeline @param {{x: number, y: number, tile?: unknown}} tip */
const placeOf = ({ width }, { x, y, tile }) =>
  `${x < width / 2 ? `left:${x}` : `right:${width - x}`}px;${tile ? "bottom:calc(100% - 6px)" : `top:${y + 16}px`}`;

/** @param {import("./timeline.js").AvaTimeline} timeline @param {number} ms */
export function spoken(timeline, ms) {
  const row = timeline.rows[timeline.lane] ?? timeline.rows.find((each) => each.id === "events");
  if (!row) return timeline.words(ms);
  const n = itemAt(row.items, ms + 1);
  if (n < 0 || !row.items.start.length) return timeline.words(ms);
  const label = row.items.label[n] || timeline.summaries.get(row.items.id[n] ?? "");
  const place = partOf(number(n + 1), number(row.items.start.length));
  return `${timeline.words(ms)}, ${row.name || t("Evidence")} ${place}${label ? `: ${label}` : ""}`;
}

/** @param {import("./timeline.js").AvaTimeline} timeline */
export function view(timeline) {
  const { tops, height } = layout(timeline.rows);
  return html`<section class="tl card" aria-label=${t("Timeline")}>
    <div class="tl-bar">
      <canvas class="tl-map" height="26" aria-hidden="true"></canvas>
      <div class="row">
        <button class="button bare icon" title="−" aria-label=${t("Show more time")} @click=${() => timeline.zoom(1.6)}>−</button>
        <button class="button bare icon" title="+" aria-label=${t("Show less time")} @click=${() => timeline.zoom(0.625)}>+</button>
        <button class="button bare" title="0" @click=${() => timeline.showAll()}>${t("Show all")}</button>
        ${timeline.stretches.length
          ? html`<button class="button bare" aria-pressed=${timeline.isWall} @click=${() => (timeline.isWall = !timeline.isWall)}>
              ${t("Clock")}
            </button>`
          : nothing}
        <button class="button bare tl-more" aria-expanded=${timeline.isWhole} @click=${() => (timeline.isWhole = !timeline.isWhole)}>
          ${timeline.isWhole ? t("Fewer lanes") : t("All lanes")}
        </button>
      </div>
    </div>
    <div class="tl-body">
      <div class="tl-names" .style=${`height:${height}px`} aria-hidden="true">
        ${timeline.rows.map(
          ({ name, height }, n) =>
            html`<span class="cut" .style=${`top:${tops[n]}px;height:${height}px`} title=${name}>${name}</span>`,
        )}
      </div>
      <div
        class="tl-stage" tabindex="0" role="slider" aria-label=${t("Playhead")} aria-valuemin="0" aria-valuenow="0"
        aria-valuemax=${Math.round(timeline.duration / 1000)} aria-valuetext="0:00"
      >
        <canvas class="tl-lanes"></canvas><canvas class="tl-head"></canvas>
        ${timeline.tip
          ? html`<div class="tl-tip" .style=${placeOf(timeline, timeline.tip)}>
              ${timeline.tip.tile ? html`<div .style=${styleOf(timeline.tip.tile)}></div>` : nothing}${timeline.tip.words}
            </div>`
          : nothing}
      </div>
    </div>
  </section>`;
}
