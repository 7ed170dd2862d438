import { html, nothing } from "lit";
import { remove } from "../api/client.js";
import { confirmNamed } from "../app/dialogs.js";
import { AppElement, define } from "../app/element.js";
import { icon } from "../app/icons.js";
import { session } from "../app/session.js";

/** Who is signed in, and where the account is looked after. */
class PageProfile extends AppElement {
  static properties = { route: { attribute: false } };

  connectedCallback() {
    super.connectedCallback();
    document.title = "Profile · AVA Cloud";
  }

  async leave() {
    const name = session.tenant?.name ?? "";
    const done = await confirmNamed(
      "Leave the tenant",
      name,
      "Your keys and open invitations end. Somebody has to invite you again before you can come back.",
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
      <h1>Profile</h1>
      <section class="card pad">
        <dl class="facts">
          <dt>Signed in as</dt>
          <dd>${me.email}</dd>
          ${me.name
            ? html`<dt>Name</dt>
                <dd>${me.name}</dd>`
            : nothing}
          <dt>Tenant</dt>
          <dd>${tenant.name} <code>${tenant.slug}</code></dd>
          <dt>Role</dt>
          <dd>${tenant.role}</dd>
          <dt>Second factor</dt>
          <dd>
            ${me.second_factor ? html`<span class="badge good">On</span>` : html`<span class="badge warn">Off</span>`}
          </dd>
        </dl>
      </section>
      <section class="card pad stack tight">
        <h2>Your account</h2>
        ${link("/accounts/2fa/", "key", "Second factor and passkeys")}${link(
          "/accounts/sessions/",
          "log",
          "Open sessions",
        )}${link("/accounts/password/change/", "settings", "Password")}
        ${link("/accounts/", "people", "Invitations that wait for you")}
      </section>
      <section class="card pad stack tight">
        <h2>Read</h2>
        ${link("/docs/api", "link", "Guide to the API")}${link("/docs", "log", "API reference")}${link(
          "/docs/answers",
          "ask",
          "How to read an answer",
        )}
      </section>
      <div class="row wrap">
        <a class="button" href="/accounts/logout/">Sign out</a
        ><button class="button danger" @click=${this.leave}>Leave ${tenant.name}</button>
      </div>
    </div>`;
  }
}

define("page-profile", PageProfile);
