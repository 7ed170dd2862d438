// What is done to the library: links, the sample, collections, moving and deleting.
import { html } from "lit";
import { newKey, patch, post, remove } from "../api/client.js";
import { ask, confirm, say } from "../app/dialogs.js";
import { t } from "../app/language.js";

/** @typedef {import("../api/types.js").Collection} Collection */

const SAMPLE = { address: new URL("../sample/crossing.mp4", import.meta.url), name: t("Sample: a crossing.mp4") };

/** Let the service fetch a recording. @param {string} collection @param {() => unknown} then */
export async function addLink(collection, then) {
  const key = newKey();
  const made = await ask({
    title: t("Add a video by its link"),
    button: t("Add"),
    fields: html`<div class="field">
        <label for="link">${t("Address of the file")}</label>
        <input class="input" id="link" name="url" type="url" required placeholder="https://" autocomplete="off" />
      </div>
      <div class="field">
        <label for="link-title">${t("Title")}</label><input class="input" id="link-title" name="title" maxlength="255" />
      </div>
      <p class="hint">${t("A file over https, not a page with a player. Signed addresses of a bucket work.")}</p>`,
    send: (data) =>
      post(
        "/videos",
        {
          source: { type: "url", url: String(data.get("url")).trim() },
          ...(data.get("title") ? { title: data.get("title") } : {}),
          ...(collection ? { collection_id: collection } : {}),
        },
        { key },
      ),
  });
  if (made) then();
}

/** Send the clip that the installation serves. @param {(file: File) => void} send */
export async function addSample(send) {
  const reply = await fetch(SAMPLE.address);
  if (!reply.ok) return say(t("The sample video is not on this installation."));
  send(new File([await reply.blob()], SAMPLE.name, { type: "video/mp4", lastModified: 0 }));
}

/** Make or change a collection. @param {Collection | null} collection @param {() => unknown} then */
export async function editCollection(collection, then) {
  const done = await ask({
    title: collection ? t("Change the collection") : t("New collection"),
    button: collection ? t("Save") : t("Create"),
    fields: html`<div class="field">
        <label for="collection-name">${t("Name")}</label>
        <input
          class="input"
          id="collection-name"
          name="name"
          required
          maxlength="100"
          value=${collection?.name ?? ""}
        />
      </div>
      <div class="field">
        <label for="collection-words">${t("What is to be noticed (optional)")}</label>
        <textarea class="input" id="collection-words" name="instructions" rows="3" maxlength="2000">
${collection?.instructions ?? ""}</textarea
        >
        <span class="hint"
          >${t("Told to the model that describes the videos, such as “name the colour of each forklift”.")}</span
        >
      </div>`,
    send: (data) => {
      const body = { name: data.get("name"), instructions: data.get("instructions") };
      return collection ? patch(`/collections/${collection.id}`, body) : post("/collections", body, { key: newKey() });
    },
  });
  if (done) then();
}

/** @param {string[]} ids @param {Collection[]} collections @param {() => void} then */
export async function moveVideos(ids, collections, then) {
  const done = await ask({
    title: t("Move {count, plural, one {# video} other {# videos}}", { count: ids.length }),
    button: t("Move"),
    fields: html`<div class="field">
      <label for="target">${t("Collection")}</label
      ><select class="input" id="target" name="target">
        <option value="">${t("No collection")}</option>
        ${collections.map((each) => html`<option value=${each.id}>${each.name}</option>`)}
      </select>
    </div>`,
    send: async (data) => {
      const target = String(data.get("target")) || null;
      await Promise.all(ids.map((id) => patch(`/videos/${id}`, { collection_id: target })));
      return true;
    },
  });
  if (done) then();
}

/** @param {string[]} ids @param {() => void} then */
export async function deleteVideos(ids, then) {
  const count = ids.length;
  const words = t(
    "{count, plural, one {The recording, its index and its clips are deleted, and answers lose their playback.} other {# recordings, their indexes and their clips are deleted, and answers lose their playback.}}",
    { count },
  );
  const title = t("{count, plural, one {Delete the video} other {Delete the videos}}", { count });
  const done = await confirm(title, words, () => Promise.all(ids.map((id) => remove(`/videos/${id}`))));
  if (done) then();
}
