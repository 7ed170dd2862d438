import { html, nothing } from "lit";
import { get } from "../api/client.js";
import { AppElement, Resource, define } from "../app/element.js";
import { clock } from "../app/format.js";
import { isWriting } from "../app/keys.js";
import { t } from "../app/language.js";
import { at } from "../app/session.js";
import { skeleton } from "../app/states.js";
import "../ask/dock.js";

/** @typedef {import("../api/types.js").Entity} Entity */
/** @typedef {import("../api/types.js").Schemas["Relation"]} Relation */

/** A person, thing or place of a video: where it appears, and what it has to do with others. */
class PageEntity extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    /** @type {import("../app/router.js").Route | null} */
    this.route = null;
    const path = () => `/videos/${this.route?.params.video}`;
    this.entity = new Resource(
      this,
      (signal) => /** @type {Promise<Entity>} */ (get(`${path()}/entities/${this.route?.params.entity}`, {}, signal)),
    );
    this.relations = new Resource(this, async (signal) => {
      const page = await get(
        `${path()}/relations`,
        { limit: 100, q: (await this.entity.reload())?.name.slice(0, 200) },
        signal,
      );
      return /** @type {Relation[]} */ (page.data);
    });
    this.pressed = (/** @type {KeyboardEvent} */ event) => {
      const step = { j: 1, k: -1 }[event.key];
      const chips = /** @type {HTMLElement[]} */ ([...this.querySelectorAll("[data-appearance]")]);
      if (!step || isWriting(event) || !chips.length) return;
      const now = chips.findIndex((each) => each.hasAttribute("aria-current"));
      chips[Math.max(0, Math.min(chips.length - 1, now + step))]?.click();
    };
  }

  connectedCallback() {
    super.connectedCallback();
    document.addEventListener("keydown", this.pressed);
    void this.relations.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.removeEventListener("keydown", this.pressed);
    this.entity.stop();
    this.relations.stop();
  }

  /** @param {Entity} entity @param {Entity["appearances"][number]} appearance @param {Event} event */
  play(entity, appearance, event) {
    for (const each of this.querySelectorAll("[data-appearance]")) each.removeAttribute("aria-current");
    /** @type {HTMLElement} */ (event.currentTarget).setAttribute("aria-current", "true");
    const dock = /** @type {import("../ask/dock.js").AvaDock} */ (this.querySelector("ava-dock"));
    void dock.show(
      /** @type {import("../api/types.js").Evidence} */ (
        /** @type {unknown} */ ({
          ...appearance,
          video_id: this.route?.params.video,
          video_title: entity.name,
          quote: appearance.role,
          status: "supported",
        })
      ),
    );
  }

  render() {
    return html`<div class="page">
      ${this.entity.show(
        (entity) =>
          html`<p class="crumbs">
              <a href="${at(`videos/${this.route?.params.video}`)}?tab=entities">${t("Back to the video")}</a>
            </p>
            <div class="head">
              <div>
                <div class="row wrap">
                  <h1>${entity.name}</h1>
                  <span class="badge">${entity.type}</span>
                </div>
                ${entity.aliases.length ? html`<p class="under">${t("Also {names}", { names: entity.aliases.join(", ") })}</p>` : nothing}
              </div>
            </div>
            ${entity.description ? html`<p>${entity.description}</p>` : nothing}
            <div class="beside">
              <section class="card">
                <header>
                  <h2>
                    ${t("{count, plural, one {Appears once} other {# appearances}}", {
                      count: entity.appearances.length,
                    })}
                  </h2>
                </header>
                <div class="row wrap pad">
                  ${entity.appearances.map(
                    (each) =>
                      html`<button
                        class="chip num"
                        data-appearance
                        @click=${(/** @type {Event} */ event) => this.play(entity, each, event)}
                      >
                        ${clock(each.start_ms)}–${clock(each.end_ms)}
                      </button>`,
                  )}
                </div>
              </section>
              <ava-dock></ava-dock>
            </div>
            ${this.relations.show(
              (list) =>
                list.length
                  ? html`<section class="card">
                      <header><h2>${t("Relations")}</h2></header>
                      <ul class="plain limits">
                        ${list.map(
                          (each) =>
                            html`<li>
                              <p>${each.source.name} <strong>${each.predicate}</strong> ${each.target.name}</p>
                              ${each.description ? html`<p class="quiet">${each.description}</p>` : nothing}
                            </li>`,
                        )}
                      </ul>
                    </section>`
                  : nothing,
              skeleton(3),
            )}`,
        skeleton(6),
      )}
    </div>`;
  }
}

define("page-entity", PageEntity);
