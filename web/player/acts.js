// Clips, shares and downloads.
import { html, nothing } from "lit";
import { get, newKey, post } from "../api/client.js";
import { ask, copy, refused, say, show } from "../app/dialogs.js";
import { clock, instant, readClock } from "../app/format.js";
import { t } from "../app/language.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../api/types.js").Clip} Clip */
/** @typedef {import("../api/types.js").NewSharedLink} NewSharedLink */

const POLL_MS = 1_500;
const DAYS = [
  [1, t("A day")],
  [7, t("A week")],
  [30, t("{count, plural, one {# day} other {# days}}", { count: 30 })],
  [90, t("{count, plural, one {# day} other {# days}}", { count: 90 })],
];

/** @param {FormData} data @param {string} name */
function timeOf(data, name) {
  const ms = readClock(String(data.get(name)));
  if (ms === null) throw refused(t("Write times such as 1:02:03 or 75."));
  return ms;
}

const timeField = (/** @type {string} */ name, /** @type {string} */ label, /** @type {number} */ ms) =>
  html`<div class="field grow">
    <label for="time-${name}">${label}</label>
    <input class="input num" id="time-${name}" name=${name} value=${clock(ms)} required />
  </div>`;

/** Ask for a span, let a clip of it be made, and offer it when it is there. @param {Video} video @param {number} from @param {number} until @param {string} [question] */
export async function makeClip(video, from, until, question) {
  const key = newKey();
  /** @type {Clip | undefined} */
  const clip = await ask({
    title: t("Make a clip"),
    button: t("Make the clip"),
    fields: html`<div class="row">${timeField("from", t("From"), from)}${timeField("until", t("To"), until)}</div>
      <div class="field">
        <label for="clip-title">${t("Title")}</label
        ><input class="input" id="clip-title" name="title" maxlength="200" value="${video.title}, ${clock(from)}" />
      </div>
      <div class="row">
        <div class="field grow">
          <label for="clip-mode">${t("Cut")}</label
          ><select class="input" id="clip-mode" name="mode">
            <option value="exact">${t("Exact, encoded again")}</option>
            <option value="fast">${t("Fast, from the keyframe before")}</option>
          </select>
        </div>
        <div class="field grow">
          <label for="clip-captions">${t("Captions")}</label
          ><select class="input" id="clip-captions" name="captions">
            <option value="none">${t("None")}</option>
            <option value="file">${t("As a file")}</option>
            <option value="burnt">${t("In the picture")}</option>
          </select>
        </div>
      </div>`,
    send: (data) =>
      post(
        "/clips",
        {
          video_id: video.id,
          start_ms: timeOf(data, "from"),
          end_ms: timeOf(data, "until"),
          mode: data.get("mode"),
          captions: data.get("captions"),
          title: data.get("title") || undefined,
          ...(question ? { question_id: question } : {}),
        },
        { key },
      ),
  });
  if (!clip) return;
  say(t("The clip is being made."));
  await clipMade(clip);
}

/** @param {Clip} clip */
async function clipMade(clip) {
  let now = clip;
  while (now.status === "queued") {
    await new Promise((done) => setTimeout(done, POLL_MS));
    now = await get(`/clips/${clip.id}`);
  }
  if (now.status === "failed") return say(now.error?.message ?? t("The clip could not be made."));
  await show(
    t("Your clip"),
    html`<p>${now.title}</p>
      <div class="row wrap">
        <a class="button main" href=${now.url ?? ""} download>${t("Download")}</a>
        <button class="button" @click=${() => shareClip(now)}>${t("Share it")}</button>
      </div>
      <p class="quiet">${t("It is kept until {when}.", { when: instant(now.expires_at) })}</p>`,
  );
}

/** @param {string} title @param {Record<string, unknown>} what @param {string} [words] */
async function shareThing(title, what, words = "") {
  const key = newKey();
  /** @type {NewSharedLink | undefined} */
  const shared = await ask({
    title,
    button: t("Make the link"),
    fields: html`<div class="field">
        <label for="share-title">${t("Title (shown to viewers)")}</label
        ><input class="input" id="share-title" name="title" maxlength="200" />
      </div>
      <div class="field">
        <label for="share-days">${t("Ends after")}</label
        ><select class="input" id="share-days" name="days">
          ${DAYS.map(([days, words]) => html`<option value=${String(days)} ?selected=${days === 7}>${words}</option>`)}
        </select>
      </div>
      <label class="check"><input type="checkbox" name="plays" checked /> ${t("Viewers may play the recording")}</label
      >${words ? html`<p class="note">${words}</p>` : nothing}
      <p class="hint">${t("Whoever has the link sees this one thing, without signing in. You can revoke it.")}</p>`,
    send: (data) =>
      post(
        "/shares",
        {
          ...what,
          title: data.get("title") || "",
          play_recordings: data.get("plays") !== null,
          expires_at: new Date(Date.now() + Number(data.get("days")) * 86_400_000).toISOString(),
        },
        { key },
      ),
  });
  if (shared) await shownLink(shared);
}

/** @param {NewSharedLink} shared */
const shownLink = (shared) =>
  show(
    t("The link"),
    html`<p class="secret" data-link>${shared.url}</p>
      <div class="row wrap">
        <button class="button main" @click=${() => copy(shared.url, t("Link copied"))}>${t("Copy the link")}</button>
        <a class="button" href=${shared.url} target="_blank" rel="noopener">${t("Open it")}</a>
      </div>
      <p class="quiet">${t("It ends on {when}. It is shown only now.", { when: instant(shared.expires_at) })}</p>`,
  );

/** @param {Video} video @param {[number, number] | null} span */
export const shareVideo = (video, span) =>
  shareThing(
    t("Share {name}", { name: video.title }),
    { video_id: video.id, ...(span ? { start_ms: span[0], end_ms: span[1] } : {}) },
    span ? t("Only {from} to {until} is shared.", { from: clock(span[0]), until: clock(span[1]) }) : "",
  );

/** @param {string} question */
export const shareAnswer = (question) => shareThing(t("Share the answer"), { question_id: question });

/** @param {Clip} clip */
const shareClip = (clip) => shareThing(t("Share the clip"), { clip_id: clip.id });

/** Offer the files of the recording. @param {Video} video */
export async function download(video) {
  const playback = await get(`/videos/${video.id}/playback`).catch(() => null);
  if (!playback || (!playback.url && !playback.segments.length)) return say(t("The recording is not kept any more."));
  const files = playback.segments.length
    ? playback.segments
    : [{ url: playback.url, start_ms: 0, end_ms: video.duration_ms ?? 0 }];
  await show(
    t("Download the recording"),
    html`<ul class="plain stack tight">
        ${files.map(
          (/** @type {{url: string, start_ms: number, end_ms: number}} */ file) =>
            html`<li>
              <a class="button" href=${file.url} download>${clock(file.start_ms)}–${clock(file.end_ms)}</a>
            </li>`,
        )}
      </ul>
      <p class="quiet">${t("The links work for 30 minutes.")}</p>`,
  );
}

/** @param {number} duration @param {(ms: number) => void} then */
export async function goToTime(duration, then) {
  const ms = await ask({
    title: t("Go to a time"),
    button: t("Go"),
    fields: html`<div class="row">${timeField("to", t("Time, up to {time}", { time: clock(duration) }), 0)}</div>`,
    send: (data) => timeOf(data, "to"),
  });
  if (ms !== undefined) then(Math.min(duration, ms));
}
