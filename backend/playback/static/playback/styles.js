// Gives the styles that media-chrome writes into its shadow roots the nonce of the page, whose policy allows no others.
// Imported before media-chrome. The console's policy has no nonce, and needs none.
const nonce = document.querySelector("script[nonce]")?.nonce;
if (nonce) {
  const marked = (html) => html.replaceAll("<style", `<style nonce="${nonce}"`);
  const roots = ShadowRoot.prototype;
  const written = Object.getOwnPropertyDescriptor(roots, "innerHTML") ?? Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
  Object.defineProperty(roots, "innerHTML", { ...written, set(html) { written.set.call(this, marked(html)); } });
  const parsed = roots.setHTMLUnsafe;
  if (parsed) roots.setHTMLUnsafe = function (html, ...rest) { return parsed.call(this, marked(html), ...rest); };
}
