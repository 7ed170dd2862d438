// The boxes of a chosen object over the picture.

/** @typedef {import("../api/types.js").Track} Track */

const APART_MS = 1_500; // a box that was seen longer ago is not shown

/** Return where the picture lies in the element that shows it. @param {{width: number, height: number}} element @param {{width: number, height: number}} picture */
export function pictureIn(element, picture) {
  const scale = Math.min(element.width / picture.width, element.height / picture.height) || 0;
  const [width, height] = [picture.width * scale, picture.height * scale];
  return { x: (element.width - width) / 2, y: (element.height - height) / 2, width, height };
}

/** Return the box of a track at a time, between the two that were seen around it; null if it was not seen then. @param {number[][]} boxes ms, x0, y0, x1, y1 @param {number} ms */
export function boxAt(boxes, ms) {
  const next = boxes.findIndex((box) => Number(box[0]) >= ms);
  const [before, after] = [
    boxes[next < 0 ? boxes.length - 1 : Math.max(0, next - 1)],
    boxes[next < 0 ? boxes.length - 1 : next],
  ];
  if (!before || !after) return null;
  const [from, until] = [Number(before[0]), Number(after[0])];
  if (ms < from - APART_MS / 3 || ms > until + APART_MS / 3 || until - from > APART_MS) return null;
  const share = until > from ? Math.min(1, Math.max(0, (ms - from) / (until - from))) : 0;
  return [1, 2, 3, 4].map((n) => Number(before[n]) + (Number(after[n]) - Number(before[n])) * share);
}

/** @param {HTMLCanvasElement} canvas @param {HTMLVideoElement} video @param {Track[]} tracks */
export function drawBoxes(canvas, video, tracks) {
  canvas.hidden = !tracks.length;
  if (!tracks.length || !video.videoWidth) return;
  const element = { width: canvas.clientWidth, height: canvas.clientHeight };
  [canvas.width, canvas.height] = [element.width, element.height];
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const place = pictureIn(element, { width: video.videoWidth, height: video.videoHeight });
  const ms = video.currentTime * 1000;
  pen.lineWidth = 2;
  pen.strokeStyle = "#ffd54a";
  pen.shadowColor = "#000";
  pen.shadowBlur = 3;
  for (const track of tracks) {
    const box = boxAt(track.boxes, ms);
    if (!box) continue;
    const [x0, y0, x1, y1] = /** @type {[number, number, number, number]} */ (box);
    pen.strokeRect(
      place.x + x0 * place.width,
      place.y + y0 * place.height,
      (x1 - x0) * place.width,
      (y1 - y0) * place.height,
    );
  }
}
