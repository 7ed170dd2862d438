// The panels of the watch page and the acts of its head.
import { html, nothing } from "lit";
import { post } from "../api/client.js";
import { confirm } from "../app/dialogs.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { may } from "../app/session.js";
import { download, shareVideo } from "./acts.js";

/** @typedef {import("../api/types.js").Video} Video */

/** @param {import("./watch.js").PageWatch} page @param {Video} video */
export function panel(page, video) {
  // Changes when the index has grown.
  const version = `${video.index_version}-${video.indexed_until_ms}-${video.status}`;
  switch (page.tab) {
    case "Ask":
      return html`<ava-conversation
        .videos=${[video]}
        .question=${page.route?.query.get("q") ?? ""}
        @evidence=${(/** @type {CustomEvent} */ event) => {
          page.evidence = event.detail.filter((/** @type {{video_id: string}} */ each) => each.video_id === video.id);
        }}
        @play=${(/** @type {CustomEvent} */ event) => {
          page.player?.repeat(true);
          page.player?.seek(event.detail.start, true, event.detail.end);
        }}
      ></ava-conversation>`;
    case "Events":
      return html`<panel-events .video=${video} .version=${version}></panel-events>`;
    case "Speech":
      return html`<panel-speech .video=${video} .version=${version}></panel-speech>`;
    case "Entities":
      return html`<panel-entities
        .video=${video}
        .version=${version}
        @pin=${(/** @type {CustomEvent} */ event) => {
          page.pinned = [...page.pinned.filter((each) => each.name !== event.detail.name), event.detail];
        }}
      ></panel-entities>`;
    case "Objects":
      return html`<panel-objects
        .video=${video}
        .version=${version}
        @boxes=${(/** @type {CustomEvent} */ event) => (page.boxes = event.detail)}
      ></panel-objects>`;
    default:
      return html`<panel-summary .video=${video}></panel-summary>`;
  }
}

/** @param {import("./watch.js").PageWatch} page @param {Video} video */
export function buttons(page, video) {
  const reindex = () =>
    confirm(
      t("Index again"),
      t("The index is built anew, and this costs what the first time has cost. The old index answers until then."),
      async () => {
        await post(`/videos/${video.id}/reindex`, {});
        await page.video.reload();
      },
    );
  const button = (/** @type {string} */ picture, /** @type {string} */ name, /** @type {() => unknown} */ act) =>
    html`<button class="button" @click=${act}>${icon(picture, 16)}${name}</button>`;
  return html`${may("clips:write") ? button("clip", t("Clip"), () => page.cut()) : nothing}
  ${may("shares:write") ? button("share", t("Share"), () => shareVideo(video, page.clip)) : nothing}
  ${button("download", t("Download"), () => download(video))}
  ${may("videos:write") && video.status === "ready" ? button("again", t("Index again"), reindex) : nothing}`;
}
