// The time on the wall at a time of the video, where the service knows when it was filmed. No DOM.

/** @typedef {{start_ms: number, end_ms: number, start_at: string}} Stretch */

/** Return the offset at the end of an instant such as "2026-05-01T09:00:00+02:00", in milliseconds. @param {string} at */
function offsetOf(at) {
  const found = /([+-])(\d\d):(\d\d)$/.exec(at);
  return found ? (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3])) * 60_000 : 0;
}

/** Return "09:14:02" at the place of the camera, "" where it is not known. @param {Stretch[]} stretches @param {number} ms */
export function wallTime(stretches, ms) {
  const stretch = stretches.find((each) => each.start_ms <= ms && ms < each.end_ms);
  if (!stretch) return "";
  const local = new Date(Date.parse(stretch.start_at) + offsetOf(stretch.start_at) + ms - stretch.start_ms);
  return local.toISOString().slice(11, 19);
}
