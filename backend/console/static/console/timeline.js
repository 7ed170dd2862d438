// Moves the player to the moment of a mark or of the address, and the line over the marks with the player.
import { go, video } from "../playback/page.js";

const { whole, at } = document.querySelector(".c-player").dataset;
const cursor = document.getElementById("cursor");
const moment = (ms) => ({ recording: 0, start: Number(ms) / 1000, end: null });

if (at) go(moment(at), false);
video.addEventListener("timeupdate", () => { cursor.style.left = `${Math.min(100, (100_000 * video.currentTime) / whole)}%`; });
for (const mark of document.querySelectorAll("[data-seek]")) {
  mark.addEventListener("click", () => go(moment(mark.dataset.seek), false));
}
