// The shared player as an element: its markup stands in the page's template, its script is loaded when it is needed.
import { html } from "lit";
import { get, linked } from "../api/client.js";
import { AppElement, define } from "../app/element.js";
import { t } from "../app/language.js";
import { drawBoxes } from "./boxes.js";
import { tilesOf } from "./storyboard.js";

/** @typedef {import("../api/types.js").Video} Video */
/** @typedef {import("../api/types.js").Rendition} Rendition */
/** @typedef {{name: string, playlist: string, storyboard: string, chapters: string, captions: {src: string, track: number, language: string}[], duration_ms: number | null, grows: boolean}} Recording */
/** @typedef {{video: HTMLVideoElement, go: (moment: {recording: number, start: number, end: number | null}, play?: boolean) => void}} Mounted */

/** Fires `time` (ms) whenever the picture is another one. */
export class AvaPlayer extends AppElement {
  static properties = { video: { attribute: false }, tracks: { attribute: false }, object: { attribute: false } };

  constructor() {
    super();
    /** @type {Video | null} */
    this.video = null;
    /** Numbers of the audio tracks that have captions. @type {number[]} */
    this.tracks = [];
    /** The object whose boxes are shown. @type {import("../api/types.js").Track[]} */
    this.object = [];
    /** @type {Mounted | null} */
    this.player = null;
    this.gone = new AbortController();
    /** @type {{ms: number, play: boolean, end: number | null} | null} */
    this.wanted = null;
    this.storyboard = "";
    /** Small pictures, read when somebody scrubs. @type {import("./storyboard.js").Tile[] | null} */
    this.tiles = null;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.gone.abort();
  }

  /** @returns {Promise<Recording[]>} */
  async recordings() {
    const id = this.video?.id ?? "";
    /** @type {Rendition} */
    const rendition = await get(`/videos/${id}/hls`);
    this.storyboard = rendition.storyboard_url;
    return [
      {
        name: this.video?.title ?? "",
        playlist: rendition.playlist_url,
        storyboard: rendition.storyboard_url,
        chapters: linked(`/videos/${id}/chapters.vtt`),
        captions: this.tracks.map((track) => ({
          src: linked(`/videos/${id}/captions.vtt`, { track }),
          track,
          language: "",
        })),
        duration_ms: this.video?.duration_ms ?? null,
        grows: rendition.state !== "complete",
      },
    ];
  }

  async firstUpdated() {
    const markup = /** @type {HTMLTemplateElement} */ (document.getElementById("player-markup"));
    const root = /** @type {HTMLElement} */ (document.importNode(markup.content, true).querySelector("[data-player]"));
    root.setAttribute("aria-label", t("Player"));
    for (const [part, words] of [["[data-repeat]", t("Repeat moment")], ["summary", t("Chapters")]])
      /** @type {HTMLElement} */ (root.querySelector(String(part))).textContent = words;
    root.querySelector("dialog")?.remove(); // the app has a list of keys of its own
    const [{ mount }, recordings] = await Promise.all([import("ava-player"), this.recordings()]);
    if (this.gone.signal.aborted) return;
    const place = /** @type {HTMLElement} */ (this.querySelector(".player-place"));
    place.replaceChildren(root);
    const boxes = root.querySelector("media-controller")?.appendChild(document.createElement("canvas"));
    this.player = /** @type {Mounted} */ (
      mount(root, recordings, { renewal: () => this.recordings(), signal: this.gone.signal, t })
    );
    const { video } = this.player;
    if (boxes) boxes.className = "boxes";
    /** @type {HTMLElement} */ (root.querySelector("[data-help]")).hidden = true;
    const tell = () => {
      this.dispatchEvent(new CustomEvent("time", { detail: video.currentTime * 1000 }));
      if (boxes) drawBoxes(boxes, video, this.object);
    };
    const tick = () => {
      tell();
      if (!video.paused && !this.gone.signal.aborted) requestAnimationFrame(tick);
    };
    video.addEventListener("play", tick);
    for (const name of ["seeked", "seeking", "timeupdate", "loadeddata"]) video.addEventListener(name, tell);
    if (this.wanted) this.seek(this.wanted.ms, this.wanted.play, this.wanted.end);
    this.dispatchEvent(new Event("mounted"));
  }

  updated() {
    const boxes = this.querySelector("canvas.boxes");
    if (this.player && boxes) drawBoxes(/** @type {HTMLCanvasElement} */ (boxes), this.player.video, this.object);
  }

  /** Go to a time, in ms; with an end the player stops there, or begins again. @param {number} ms @param {boolean} [play] @param {number | null} [end] */
  seek(ms, play = false, end = null) {
    this.wanted = { ms, play, end };
    this.player?.go({ recording: 0, start: ms / 1000, end: end === null ? null : end / 1000 }, play);
  }

  /** Return the small picture of a time, if it is there. @param {number} ms */
  tileAt(ms) {
    if (!this.tiles && this.storyboard) {
      this.tiles = [];
      void tilesOf(this.storyboard).then((tiles) => (this.tiles = tiles));
    }
    return this.tiles?.findLast((tile) => tile.start <= ms);
  }

  /** @param {boolean} on */
  repeat(on) {
    const button = /** @type {HTMLElement | null} */ (this.querySelector("[data-repeat]"));
    if (button) button.hidden = false;
    if (button && (button.getAttribute("aria-pressed") === "true") !== on) button.click();
  }

  render() {
    return html`<div class="player-place"><div class="player-wait bone"></div></div>`;
  }
}

define("ava-player", AvaPlayer);
