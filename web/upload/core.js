// What an upload computes: parts, the record to go on from, speed, and what is announced. No DOM, so Node runs it as well.

/** Parts of one upload that are sent at once. */
export const AT_ONCE = 6;
/** Attempts of a part before the upload waits for the person. */
export const ATTEMPTS = 8;
/** Size from which the command line is the better way. */
export const LARGE = 20_000_000_000;

/** @typedef {{id: string, name: string, size: number, modified: number, checked: boolean}} Record */
/** @typedef {{name: string, size: number, lastModified: number}} FileLike */

/** Return begin and end of a part, from 1. @param {number} n @param {number} size @param {number} partSize @returns {[number, number]} */
export const range = (n, size, partSize) => [(n - 1) * partSize, Math.min(size, n * partSize)];

/** Whether a file is the one of an interrupted upload. @param {Record} record @param {FileLike} file */
export const isSame = (record, file) =>
  record.name === file.name && record.size === file.size && record.modified === file.lastModified;

/** Milliseconds before the next attempt: 0.5, 1, 2, 4, then 8 s. @param {number} attempt from 1 */
export const pauseBefore = (attempt) => Math.min(8_000, 500 * 2 ** (attempt - 1));

/** Return the quarter that was reached between two shares, or null. @param {number} before 0 to 1 @param {number} now */
export function quarter(before, now) {
  const [was, is] = [Math.floor(before * 4), Math.floor(now * 4)];
  return is > was && is < 4 ? is * 25 : null;
}

/** Speed over the last seconds, from what had been sent at which time. */
export class Speed {
  constructor() {
    /** @type {[number, number][]} */
    this.points = [];
  }

  /** @param {number} ms @param {number} sent bytes */
  note(ms, sent) {
    this.points.push([ms, sent]);
    while (this.points.length > 2 && ms - /** @type {[number, number]} */ (this.points[0])[0] > 8_000)
      this.points.shift();
  }

  /** Bytes a second; 0 while it is not known. */
  get rate() {
    const [first, last] = [this.points[0], this.points.at(-1)];
    if (!first || !last || last[0] - first[0] < 500) return 0;
    return Math.max(0, ((last[1] - first[1]) * 1000) / (last[0] - first[0]));
  }
}

/** Content types by the end of a name, where the browser knows none. @type {{[end: string]: string}} */
const TYPES = {
  mp4: "video/mp4",
  m4v: "video/mp4",
  mov: "video/quicktime",
  mkv: "video/x-matroska",
  webm: "video/webm",
  avi: "video/x-msvideo",
  ts: "video/mp2t",
  mpg: "video/mpeg",
  mpeg: "video/mpeg",
  vob: "video/mpeg",
  flv: "video/x-flv",
  ogv: "video/ogg",
  gif: "image/gif",
};

/** @param {string} name @param {string} type what the browser says */
export const typeOf = (name, type) =>
  type || TYPES[name.split(".").at(-1)?.toLowerCase() ?? ""] || "application/octet-stream";
