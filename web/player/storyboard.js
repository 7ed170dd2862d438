// Small pictures of a recording: which part of which sheet shows which time (WebVTT).
import { readClock } from "../app/format.js";

/** @typedef {{start: number, sheet: string, box: number[]}} Tile start: ms; box: left, top, width and height in the sheet */

/** Read the tiles of a recording; none if there are none. @param {string} address @returns {Promise<Tile[]>} */
export async function tilesOf(address) {
  const reply = await fetch(address).catch(() => null);
  const text = reply?.ok ? await reply.text() : "";
  const cues = [...text.matchAll(/^([\d:.]+) --> .*\n(.+)#xywh=([\d,]+)/gm)];
  return cues.map(([, start = "", sheet = "", box = ""]) => ({
    start: readClock(start) ?? 0,
    sheet: new URL(sheet, new URL(address, location.href)).href,
    box: box.split(",").map(Number),
  }));
}

/** Return the style of an element that shows a tile. @param {Tile} tile */
export const styleOf = ({ sheet, box: [x, y, w, h] }) =>
  `width:${w}px;height:${h}px;background:url("${sheet}") -${x}px -${y}px`;
