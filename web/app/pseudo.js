// The pseudo-locale: English that is legible, but has no plain letter, is a third longer, and stands in brackets.
import { IntlMessageFormat } from "intl-messageformat";

const PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ACCENTED = [..."ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž"];

/** @param {string} text */
const accented = (text) => text.replace(/[A-Za-z]/g, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter);

/** @param {string} text */
export const marked = (text) => `[${accented(text)}]`;

/** @typedef {ReturnType<IntlMessageFormat["getAst"]>[number]} Part */

/** Return the message of an English sentence. @param {string} sentence @returns {Part[]} */
export function translation(sentence) {
  const parts = new IntlMessageFormat(sentence).getAst().map(changed);
  const longer = "~".repeat(Math.ceil(sentence.length * 0.3));
  return [literal("["), ...parts, literal(`${longer}]`)];
}

const literal = (/** @type {string} */ value) => /** @type {Part} */ ({ type: 0, value });

/** @param {Part} part @returns {Part} */
function changed(part) {
  if ("children" in part) return { ...part, children: part.children.map(changed) };
  if (!("options" in part)) return part.type === 0 ? { ...part, value: accented(part.value) } : part;
  const options = Object.entries(part.options).map(([name, each]) => [name, { ...each, value: each.value.map(changed) }]);
  return /** @type {Part} */ ({ ...part, options: Object.fromEntries(options) });
}
