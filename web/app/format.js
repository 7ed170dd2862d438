// Times, sizes and amounts in words. No DOM, so Node runs it as well.
import { locale, marked, t } from "./language.js";

/** 3723000 -> "1:02:03". @param {number | null | undefined} ms */
export function clock(ms) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "–";
  const whole = Math.floor(ms / 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** Read "1:02:03", "2:03" or "123" as milliseconds; null for anything else. @param {string} text */
export function readClock(text) {
  if (!/^\d+(:\d{1,2}){0,2}(\.\d+)?$/.test(text.trim())) return null;
  return Math.round(
    text
      .trim()
      .split(":")
      .reduce((sum, part) => sum * 60 + Number(part), 0) * 1000,
  );
}

/** 1234567 -> "1.2 MB". @param {number | null | undefined} count */
export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, unit] = [count, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  const digits = value >= 100 || unit === 0 ? 0 : 1;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${new Intl.NumberFormat(locale, options).format(value)} ${units[unit]}`;
}

/** @param {string} amount decimal @param {string} currency */
export function money(amount, currency) {
  const value = Number(amount);
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
  try {
    return new Intl.NumberFormat(locale, {
      style: "currency",
      currency: currency || "USD",
      minimumFractionDigits: digits === 4 ? 3 : 2,
      maximumFractionDigits: digits,
    }).format(value);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** "3 of 10". @param {string | number} part @param {string | number} whole */
export const partOf = (part, whole) => t("{part} of {whole}", { part, whole });

/** "3 videos". @param {number} count */
export const videos = (count) => t("{count, plural, one {# video} other {# videos}}", { count });

/** @param {number | string} count */
export const number = (count) => new Intl.NumberFormat(locale).format(Number(count));

/** @param {string | null | undefined} at */
export const day = (at) =>
  at ? marked(new Intl.DateTimeFormat(locale, { dateStyle: "medium" }).format(new Date(at))) : "–";

/** @param {string | null | undefined} at */
export const instant = (at) =>
  at ? marked(new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at))) : "–";

/** "3 minutes ago". @param {string | null | undefined} at @param {number} [now] */
export function ago(at, now = Date.now()) {
  if (!at) return t("never");
  const seconds = (new Date(at).getTime() - now) / 1000;
  /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
  const units = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ];
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  if (Math.abs(seconds) > 30 * 86_400) return day(at);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return marked(words.format(Math.round(seconds / size), unit));
  }
  return t("just now");
}

/** 93000 -> "1 min 33 s". @param {number} ms */
export function lasting(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ""}`;
  return `${Math.floor(seconds / 3600)} h${Math.floor(seconds / 60) % 60 ? ` ${Math.floor(seconds / 60) % 60} min` : ""}`;
}
