// Lets Node find what the pages of the app import by the import map of their document.
import { register } from "node:module";

const vendored = new URL("../../web/vendor/intl-messageformat.js", import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
  next(name === "intl-messageformat" ? ${JSON.stringify(vendored)} : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
