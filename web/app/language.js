// The language of the app: a sentence is written in English where it is shown, and is the key of its translations.
import { IntlMessageFormat } from "intl-messageformat";

/** The languages that a person may choose, in their own words. @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "Deutsch" };
const PSEUDO = "en-XA"; // English with accents, longer and in brackets: it shows what is not translated
const KEPT = "ava.language";
const isBrowser = Boolean(globalThis.document);

/** The language that the person has chosen; "" for the one of the browser. */
export const kept = isBrowser ? (localStorage.getItem(KEPT) ?? "") : "";

/** Use a language from now on: load the page again in it. @param {string} language "" for the one of the browser */
export function keep(language) {
  if (language) localStorage.setItem(KEPT, language);
  else localStorage.removeItem(KEPT);
  // The pages around the app learn it by a cookie.
  document.cookie = `ava_language=${language}; path=/; samesite=lax; max-age=${language ? 31_536_000 : 0}`;
  location.reload();
}

/** Return the language of messages and the locale of dates and numbers. @param {readonly string[]} wishes the best first */
export function fitting(wishes) {
  if (wishes[0] === PSEUDO) return { language: PSEUDO, locale: PSEUDO };
  const short = (/** @type {string} */ wish) => wish.split("-")[0] ?? "";
  const language = wishes.map(short).find((each) => Object.hasOwn(LANGUAGES, each)) ?? "en";
  return { language, locale: wishes.find((wish) => wish !== language && short(wish) === language) ?? language };
}

const asked = isBrowser ? (new URLSearchParams(location.search).get("lang") ?? "") : "";
export const { language, locale } = fitting([asked, kept, ...(isBrowser ? navigator.languages : [])].filter(Boolean));
if (isBrowser) document.documentElement.lang = locale;

/** Change a text of the browser, such as a date, so that the pseudo-locale shows it as translated. */
export let marked = (/** @type {string} */ text) => text;
/** @type {(sentence: string) => ConstructorParameters<typeof IntlMessageFormat>[0]} */
let translation = (sentence) => sentence;
if (language === PSEUDO) ({ marked, translation } = await import("./pseudo.js"));
else if (language !== "en") {
  /** @type {Record<string, string>} */
  const known = await fetch(new URL(`../locales/${language}.json`, import.meta.url)).then((reply) => reply.json(), () => ({}));
  translation = (sentence) => known[sentence] ?? sentence;
}

/** @type {Map<string, IntlMessageFormat>} */
const read = new Map();

/**
 * Return a sentence in the language of the app: a text, or parts for lit where a value is markup. The sentence is
 * written in quotes, in the syntax of ICU: "{count, plural, one {# video} other {# videos}} of <b>{title}</b>".
 * @param {string} sentence @param {Record<string, any>} [values] @returns {any}
 */
export function t(sentence, values) {
  const message = read.get(sentence) ?? new IntlMessageFormat(translation(sentence), locale);
  read.set(sentence, message);
  return message.format(values);
}
