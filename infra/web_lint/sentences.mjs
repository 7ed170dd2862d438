// Checks the translations of the web app and of its player: each sentence that t() gets stands in every file of web/locales, with the
// same values and tags, and no file has any other. Prints what is wrong. `python -m infra.web_lint` and a test run it.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { IntlMessageFormat } from "../../web/vendor/intl-messageformat.js";

const WEB = fileURLToPath(new URL("../../web/", import.meta.url));
const PLAYER = fileURLToPath(new URL("../../backend/playback/static/playback/", import.meta.url));
const CALL = /(?<![\w.$])t\(\s*("(?:[^"\\\n]|\\.)*")?/g;
const faults = [];

/** Return the names that a message uses: of values, with the kind of each, and of tags. */
function names(message) {
  const found = new Set();
  const collect = (parts) => {
    for (const part of parts) {
      if (part.type !== 0 && part.type !== 7) found.add(`${part.type}:${part.value}`);
      if (part.children) collect(part.children);
      for (const option of Object.values(part.options ?? {})) collect(option.value);
    }
  };
  collect(new IntlMessageFormat(message).getAst());
  return [...found].sort().join(" ");
}

const used = new Set();
const files = [WEB, PLAYER].flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => folder + name));
for (const name of files) {
  if (!name.endsWith(".js") || name.includes("/vendor/")) continue;
  const source = readFileSync(name, "utf8");
  for (const { 1: quoted, index } of source.matchAll(CALL)) {
    if (quoted) used.add(JSON.parse(quoted));
    else if (!name.endsWith("app/language.js"))
      faults.push(`${name}:${source.slice(0, index).split("\n").length}: t() needs a sentence in double quotes`);
  }
}

for (const file of readdirSync(`${WEB}locales`)) {
  const known = JSON.parse(readFileSync(`${WEB}locales/${file}`, "utf8"));
  for (const sentence of used) {
    if (!Object.hasOwn(known, sentence)) faults.push(`${file} lacks ${JSON.stringify(sentence)}`);
    else if (names(sentence) !== names(known[sentence]))
      faults.push(`${file}: other values than in ${JSON.stringify(sentence)}`);
  }
  for (const sentence of Object.keys(known)) {
    if (!used.has(sentence)) faults.push(`${file} has ${JSON.stringify(sentence)}, which no file uses`);
  }
}
if (faults.length) {
  console.error(faults.join("\n"));
  process.exit(1);
}
