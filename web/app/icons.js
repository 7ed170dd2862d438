// Icons as lines, drawn in the colour of the text around them.
import { svg, html } from "lit";

/** @type {Record<string, unknown>} */
const lines = {
  film: svg`<rect x="3" y="5" width="18" height="14" rx="2"/><path d="M10 9.5v5l4.5-2.5z"/>`,
  ask: svg`<path d="M4 5h16v11H10l-5 4v-4H4z"/><path d="M9 9.5h6M9 12.5h4"/>`,
  search: svg`<circle cx="11" cy="11" r="6"/><path d="m20 20-4.5-4.5"/>`,
  usage: svg`<path d="M4 20V10M10 20V4M16 20v-7M21 20H3"/>`,
  settings: svg`<circle cx="12" cy="12" r="3"/><path d="M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2"/>`,
  upload: svg`<path d="M12 16V5M7.5 9 12 4.5 16.5 9M4 16v3.5h16V16"/>`,
  link: svg`<path d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6l-1.4 1.4M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6L12 16.8"/>`,
  folder: svg`<path d="M3.5 6.5h6l2 2.5h9v10h-17z"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  close: svg`<path d="m6 6 12 12M18 6 6 18"/>`,
  pause: svg`<path d="M9 5v14M15 5v14"/>`,
  play: svg`<path d="M8 5v14l11-7z"/>`,
  again: svg`<path d="M19 12a7 7 0 1 1-2-4.9L19.500 9M19.500 4.500V9H15"/>`,
  clip: svg`<circle cx="6.500" cy="6.500" r="2.500"/><circle cx="6.500" cy="17.500" r="2.500"/><path d="M8.700 8 20 17M8.700 16 20 7"/>`,
  share: svg`<path d="M12 14V4M8 7.500 12 3.500l4 4M6 11H5v9h14v-9h-1"/>`,
  download: svg`<path d="M12 4v11M7.500 11 12 15.500 16.500 11M4 16v3.500h16V16"/>`,
  trash: svg`<path d="M4.500 7h15M9 7V4.500h6V7M6.500 7l1 13h9l1-13M10 11v5M14 11v5"/>`,
  up: svg`<path d="M7 11v9H4v-9zM7 11l4-7c1.500 0 2.500 1 2.500 2.500V10H19l-1.500 10H7"/>`,
  down: svg`<path d="M7 13V4H4v9zM7 13l4 7c1.500 0 2.500-1 2.500-2.500V14H19L17.500 4H7"/>`,
  more: svg`<circle cx="5.500" cy="12" r="1"/><circle cx="12" cy="12" r="1"/><circle cx="18.500" cy="12" r="1"/>`,
  key: svg`<circle cx="8" cy="14.500" r="4"/><path d="m11 11.500 8-8M16 6.500l2.500 2.500"/>`,
  hook: svg`<circle cx="12" cy="6.500" r="2.500"/><circle cx="6" cy="17" r="2.500"/><circle cx="18" cy="17" r="2.500"/><path d="m11 9-3.500 6M13 9l3.500 6M8.500 17h7"/>`,
  people: svg`<circle cx="9" cy="8.500" r="3"/><path d="M3.500 19c0-3.500 2.500-5.500 5.500-5.500s5.500 2 5.500 5.500M15.500 6a3 3 0 0 1 0 5.500M17 14c2.200.6 3.500 2.400 3.500 5"/>`,
  person: svg`<circle cx="12" cy="8" r="3.500"/><path d="M5 20c0-4 3-6 7-6s7 2 7 6"/>`,
  log: svg`<path d="M6 4h12v16H6zM9 8.500h6M9 12h6M9 15.500h4"/>`,
  check: svg`<path d="m5 12.500 4.500 4.500L19 7.500"/>`,
  left: svg`<path d="M14.500 5 8 12l6.500 7"/>`,
  bolt: svg`<path d="M13 3 5 13.500h6L11 21l8-10.500h-6z"/>`,
};

/** @param {string} name @param {number} [size] */
export const icon = (name, size = 18) =>
  html`<svg
    width=${size}
    height=${size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.7"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    ${lines[name]}
  </svg>`;
