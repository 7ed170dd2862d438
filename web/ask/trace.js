// How an answer was found: the search tree as an indented list, which a screen reader can walk.
import { html, nothing } from "lit";
import { request } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { lasting } from "../app/format.js";
import { t } from "../app/language.js";
import { skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").Schemas["TraceNode"]} TraceNode */
/** @typedef {{node: TraceNode, below: Branch[]}} Branch */

/** @type {Record<string, string>} */
const ACTIONS = {
  F: t("Went forward in time"), B: t("Went back in time"), RQ: t("Asked in other words"), CS: t("Judged the choices"),
  IN: t("Looked at pictures"), "": t("Read the nearest events"),
};

/** Return the nodes as trees: a node stands below the one whose path begins its own. @param {TraceNode[]} nodes @returns {Branch[]} */
export function treeOf(nodes) {
  /** @type {Map<string, Branch>} */
  const known = new Map();
  /** @type {Branch[]} */
  const roots = [];
  for (const node of nodes) {
    const branch = { node, below: [] };
    known.set(node.path, branch);
    const parts = node.path.split(/[./>]/);
    let parent;
    while (parts.length && !parent) {
      parts.pop();
      const path = [...known.keys()].find((each) => each !== node.path && each.split(/[./>]/).join() === parts.join());
      parent = path === undefined ? undefined : known.get(path);
    }
    (parent && parent !== branch ? parent.below : roots).push(branch);
  }
  return roots;
}

/** @param {TraceNode} node */
const nameOf = (node) => node.detail?.tool || (ACTIONS[node.action] ?? node.action);

class AvaTrace extends AppElement {
  static properties = { of: { attribute: false } };

  constructor() {
    super();
    this.of = "";
    this.nodes = new Resource(this, async (signal) => {
      const text = await request("GET", `/questions/${this.of}/trace`, { signal, text: true });
      const lines = /** @type {any[]} */ (
        text
          .split("\n")
          .filter(Boolean)
          .map((/** @type {string} */ line) => JSON.parse(line))
      );
      return /** @type {TraceNode[]} */ (lines.filter((line) => line.path !== undefined));
    });
  }

  connectedCallback() {
    super.connectedCallback();
    void this.nodes.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.nodes.stop();
  }

  render() {
    return this.nodes.show(
      (nodes) =>
        nodes.length
          ? html`<ol class="tree plain">
              ${treeOf(nodes).map((branch) => this.branch(branch))}
            </ol>`
          : html`<p class="muted">
              ${t("There was no search: the question was answered from what is known about the video.")}
            </p>`,
      skeleton(5),
    );
  }

  /** @param {Branch} branch @returns {unknown} */
  branch({ node, below }) {
    return html`<li>
      <div class="node">
        <p>
          <strong>${nameOf(node)}</strong>
          <span class="quiet num"
            >${t("{count, plural, one {# event} other {# events}}", { count: node.events.length })} ·
            ${lasting(node.wall_ms)}${node.score === null
              ? ""
              : ` · ${t("agreement {score, number, ::.00}", { score: node.score })}`}</span
          >
        </p>
        ${node.sub_queries.length
          ? html`<p class="muted">${node.sub_queries.map((words) => `“${words}”`).join(", ")}</p>`
          : nothing}
        ${node.answer && node.answer !== "insufficient"
          ? html`<p>${node.answer}</p>`
          : node.answer
            ? html`<p class="muted">${t("Not enough to answer")}</p>`
            : nothing}
        ${node.detail?.observation ? html`<p class="muted">${node.detail.observation}</p>` : nothing}${node.note
          ? html`<p class="muted">${node.note}</p>`
          : nothing}
        ${node.error_code ? html`<span class="badge wrong">${node.error_code}</span>` : nothing}
      </div>
      ${below.length
        ? html`<ol class="plain">
            ${below.map((each) => this.branch(each))}
          </ol>`
        : nothing}
    </li>`;
  }
}

define("ava-trace", AvaTrace);
