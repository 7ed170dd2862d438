import { html, nothing } from "lit";
import { remove } from "../api/client.js";
import { confirmNamed } from "../app/dialogs.js";
import { AppElement, define } from "../app/element.js";
import { icon } from "../app/icons.js";
import { LANGUAGES, keep, kept, t } from "../app/language.js";
import { roleName, session } from "../app/session.js";

/** Who is signed in, and where the account is looked after. */
class PageProfile extends AppElement {
  static properties = { route: { attribute: false } };

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Profile")} · AVA Cloud`;
  }

  async leave() {
    const name = session.tenant?.name ?? "";
    const done = await confirmNamed(
      t("Leave the tenant"),
      name,
      t("Your keys and open invitations end. Somebody has to invite you again before you can come back."),
      () => remove("/me/membership"),
    );
    if (done) location.assign("/app/");
  }

  render() {
    const { me, tenant } = session;
    if (!me || !tenant) return nothing;
    const link = (/** @type {string} */ href, /** @type {string} */ picture, /** @type {string} */ name) =>
      html`<a class="tab-link" href=${href}>${icon(picture)}<span>${name}</span></a>`;
    return html`<div class="page narrow">
      <h1>${t("Profile")}</h1>
      <section class="card pad">
        <dl class="facts">
          <dt>${t("Signed in as")}</dt>
          <dd>${me.email}</dd>
          ${me.name
            ? html`<dt>${t("Name")}</dt>
                <dd>${me.name}</dd>`
            : nothing}
          <dt>${t("Tenant")}</dt>
          <dd>${tenant.name} <code>${tenant.slug}</code></dd>
          <dt>${t("Role")}</dt>
          <dd>${roleName(tenant.role)}</dd>
          <dt>${t("Second factor")}</dt>
          <dd>
            ${me.second_factor ? html`<span class="badge good">${t("On")}</span>` : html`<span class="badge warn">${t("Off")}</span>`}
          </dd>
          <dt><label for="language">${t("Language")}</label></dt>
          <dd>
            <select class="input auto" id="language" @change=${choose}>
              <option value="">${t("As in the browser")}</option>
              ${Object.entries(LANGUAGES).map(
                ([code, name]) => html`<option value=${code} lang=${code} ?selected=${code === kept}>${name}</option>`,
              )}
            </select>
          </dd>
        </dl>
      </section>
      <section class="card pad stack tight">
        <h2>${t("Your account")}</h2>
        ${link("/accounts/2fa/", "key", t("Second factor and passkeys"))}${link(
          "/accounts/sessions/",
          "log",
          t("Open sessions"),
        )}${link("/accounts/password/change/", "settings", t("Password"))}
        ${link("/accounts/", "people", t("Invitations that wait for you"))}
      </section>
      <section class="card pad stack tight">
        <h2>${t("Read")}</h2>
        ${link("/docs/api", "link", t("Guide to the API"))}${link("/docs", "log", t("API reference"))}${link(
          "/docs/answers",
          "ask",
          t("How to read an answer"),
        )}
      </section>
      <div class="row wrap">
        <a class="button" href="/accounts/logout/">${t("Sign out")}</a
        ><button class="button danger" @click=${this.leave}>${t("Leave {tenant}", { tenant: tenant.name })}</button>
      </div>
    </div>`;
  }
}

const choose = (/** @type {Event} */ event) => keep(/** @type {HTMLSelectElement} */ (event.target).value);

define("page-profile", PageProfile);
