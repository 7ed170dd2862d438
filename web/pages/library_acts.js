// What is done to the library: links, the sample, collections, moving and deleting.
import { html, nothing } from "lit";
import { newKey, patch, post, remove } from "../api/client.js";
import { ask, confirm, say } from "../app/dialogs.js";
import { plural } from "../app/format.js";

/** @typedef {import("../api/types.js").Collection} Collection */

const SAMPLE = { address: new URL("../sample/crossing.mp4", import.meta.url), name: "Sample: a crossing.mp4" };

/** Let the service fetch a recording. @param {string} collection @param {() => unknown} then */
export async function addLink(collection, then) {
  const key = newKey();
  const made = await ask({
    title: "Add a video by its link",
    button: "Add",
    fields: html`<div class="field">
        <label for="link">Address of the file</label>
        <input class="input" id="link" name="url" type="url" required placeholder="https://" autocomplete="off" />
      </div>
      <div class="field">
        <label for="link-title">Title</label><input class="input" id="link-title" name="title" maxlength="255" />
      </div>
      <p class="hint">A file over https, not a page with a player. Signed addresses of a bucket work.</p>`,
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
  if (!reply.ok) return say("The sample video is not on this installation.");
  send(new File([await reply.blob()], SAMPLE.name, { type: "video/mp4", lastModified: 0 }));
}

/** Make or change a collection. @param {Collection | null} collection @param {() => unknown} then */
export async function editCollection(collection, then) {
  const done = await ask({
    title: collection ? "Change the collection" : "New collection",
    button: collection ? "Save" : "Create",
    fields: html`<div class="field">
        <label for="collection-name">Name</label>
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
        <label for="collection-words">What is to be noticed (optional)</label>
        <textarea class="input" id="collection-words" name="instructions" rows="3" maxlength="2000">
${collection?.instructions ?? ""}</textarea
        >
        <span class="hint"
          >Told to the model that describes the videos, such as “name the colour of each forklift”.</span
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
    title: `Move ${plural(ids.length, "video")}`,
    button: "Move",
    fields: html`<div class="field">
      <label for="target">Collection</label
      ><select class="input" id="target" name="target">
        <option value="">No collection</option>
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
  const words = html`The ${ids.length === 1 ? "recording, its index" : "recordings, their indexes"} and clips of it are
  deleted, and answers lose their playback.
  ${ids.length > 1 ? html`This concerns ${plural(ids.length, "video")}.` : nothing}`;
  const done = await confirm(ids.length === 1 ? "Delete the video" : "Delete the videos", words, () =>
    Promise.all(ids.map((id) => remove(`/videos/${id}`))),
  );
  if (done) then();
}
