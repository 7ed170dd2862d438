// The people of a tenant: roles, the collections that they may see, invitations.
import { html, nothing } from "lit";
import { newKey, patch, post, remove, rows } from "../api/client.js";
import { ask, confirm, confirmNamed, copy, say, show } from "../app/dialogs.js";
import { AppElement, Resource, define } from "../app/element.js";
import { ago, day } from "../app/format.js";
import { icon } from "../app/icons.js";
import { t } from "../app/language.js";
import { may, roleName, session } from "../app/session.js";
import { skeleton } from "../app/states.js";

/** @typedef {import("../api/types.js").Member} Member */
/** @typedef {import("../api/types.js").Invitation} Invitation */
/** @typedef {import("../api/types.js").Collection} Collection */

/** @type {[string, string][]} */
const ROLES = [
  ["owner", t("May do everything, and decides who else owns")],
  ["admin", t("May do everything except decide who owns")],
  ["developer", t("Uploads, asks, makes keys, sets up webhooks")],
  ["analyst", t("Reads videos, asks, makes clips and shares answers")],
  ["viewer", t("Reads videos, questions and answers")],
  ["billing", t("Reads the usage, sets budgets, looks after billing")],
];
const LIMITED = ["analyst", "viewer"];

class PageMembers extends AppElement {
  static properties = { route: { attribute: false } };

  constructor() {
    super();
    this.route = null;
    this.members = new Resource(this, (signal) => /** @type {Promise<Member[]>} */ (rows("/members", {}, 500, signal)));
    this.invitations = new Resource(
      this,
      (signal) => /** @type {Promise<Invitation[]>} */ (rows("/invitations", {}, 100, signal)),
    );
    this.collections = new Resource(this, (signal) =>
      may("videos:read")
        ? /** @type {Promise<Collection[]>} */ (rows("/collections", {}, 100, signal))
        : Promise.resolve([]),
    );
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("Members")} · AVA Cloud`;
    for (const each of [this.members, this.invitations, this.collections]) void each.reload();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    for (const each of [this.members, this.invitations, this.collections]) each.stop();
  }

  /** Roles that this person may give. */
  get roles() {
    return ROLES.filter(([role]) => role !== "owner" || session.tenant?.role === "owner");
  }

  /** @param {string} role @param {string[]} limited */
  roleFields(role, limited) {
    const kept = this.collections.value ?? [];
    return html`<fieldset class="stack tight">
        <legend>${t("Role")}</legend>
        ${this.roles.map(
          ([name, words]) =>
            html`<label class="check"
              ><input type="radio" name="role" value=${name} ?checked=${name === role} required />
              <span><strong>${roleName(name)}</strong> <span class="muted">${words}</span></span></label
            >`,
        )}
      </fieldset>
      ${kept.length
        ? html`<fieldset>
            <legend>${t("Only these collections (analysts and viewers; none for all)")}</legend>
            ${kept.map(
              (each) =>
                html`<label class="check"
                  ><input
                    type="checkbox"
                    name="collection"
                    value=${each.id}
                    ?checked=${limited.includes(each.id)}
                  />${each.name}</label
                >`,
            )}
          </fieldset>`
        : nothing}`;
  }

  /** @param {FormData} data */
  wanted(data) {
    const role = String(data.get("role"));
    const limited = data.getAll("collection");
    return { role, ...(LIMITED.includes(role) && limited.length ? { collection_ids: limited } : {}) };
  }

  async invite() {
    const made = await ask({
      title: t("Invite somebody"),
      button: t("Send the invitation"),
      fields: html`<div class="field">
          <label for="invite-email">${t("E-mail address")}</label
          ><input class="input" id="invite-email" name="email" type="email" required autocomplete="off" />
        </div>
        ${this.roleFields("analyst", [])}`,
      send: (data) => post("/invitations", { email: data.get("email"), ...this.wanted(data) }, { key: newKey() }),
    });
    if (!made) return;
    void this.invitations.reload();
    if (made.mailed) say(t("The invitation was sent to {email}.", made));
    if (made.url) {
      await show(
        t("Invitation of {email}", made),
        html`<p class="secret" data-secret>${made.url}</p>
          <div class="row">
            <button class="button main" @click=${() => copy(made.url, t("Link copied"))}>${t("Copy the link")}</button>
          </div>
          <p class="quiet">
            ${made.mailed
              ? t("The link was also sent by mail.")
              : t("No mail is sent on this installation: hand the link on yourself.")}
            ${t("It is shown only now, and works for 7 days.")}
          </p>`,
      );
    }
  }

  /** @param {Member} member */
  async change(member) {
    const done = await ask({
      title: member.name || member.email,
      fields: this.roleFields(member.role, member.collection_ids ?? []),
      send: (data) => patch(`/members/${member.id}`, this.wanted(data)),
    });
    if (done) void this.members.reload();
  }

  /** @param {Member} member */
  async drop(member) {
    const done = await confirmNamed(
      t("Remove the member"),
      member.email,
      t("The keys and open invitations that this person made end as well."),
      () => remove(`/members/${member.id}`),
    );
    if (done) void this.members.reload();
  }

  /** @param {Invitation} invitation */
  async revoke(invitation) {
    const done = await confirm(t("Revoke the invitation"), t("Its link for {email} stops working.", invitation), () =>
      remove(`/invitations/${invitation.id}`),
    );
    if (done) void this.invitations.reload();
  }

  render() {
    const writes = may("members:write");
    return html`<div class="page">
      <div class="head">
        <div>
          <h1>${t("Members")}</h1>
          <p class="under">${t("People of {tenant}", { tenant: session.tenant?.name })}</p>
        </div>
        <div class="actions">
          ${writes
            ? html`<button class="button main" @click=${this.invite}>${icon("plus", 16)}${t("Invite")}</button>`
            : nothing}
        </div>
      </div>
      ${this.members.show(
        (list) =>
          html`<div class="card scrolls">
            <table class="folds">
              <thead>
                <tr>
                  <th>${t("Person")}</th>
                  <th>${t("Role")}</th>
                  <th>${t("Sees")}</th>
                  <th>${t("Since")}</th>
                  <th><span class="sr">${t("Acts")}</span></th>
                </tr>
              </thead>
              <tbody>
                ${list.map(
                  (member) =>
                    html`<tr>
                      <th scope="row">
                        ${member.name || member.email}
                        <div class="quiet">${member.name ? member.email : nothing}</div>
                      </th>
                      <td>${roleName(member.role)}</td>
                      <td data-name=${t("Sees")}>
                        ${t("{count, plural, =0 {All} one {# collection} other {# collections}}", {
                          count: member.collection_ids?.length ?? 0,
                        })}
                      </td>
                      <td data-name=${t("Since")}>${day(member.created_at)}</td>
                      <td class="actions">
                        ${writes && (member.role !== "owner" || session.tenant?.role === "owner")
                          ? html`<button
                                class="button bare"
                                @click=${() => this.change(member)}
                                aria-label=${t("Change {name}", { name: member.email })}
                              >
                                ${t("Change")}
                              </button>
                              <button
                                class="button bare danger"
                                @click=${() => this.drop(member)}
                                aria-label=${t("Remove {name}", { name: member.email })}
                              >
                                ${t("Remove")}
                              </button>`
                          : nothing}
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`,
        skeleton(4),
      )}
      ${this.invitations.show(
        (list) =>
          this.open(
            list.filter((each) => !each.accepted_at && !each.revoked_at && Date.parse(each.expires_at) > Date.now()),
            writes,
          ),
        skeleton(2),
      )}
    </div>`;
  }

  /** @param {Invitation[]} list @param {boolean} writes */
  open(list, writes) {
    if (!list.length) return nothing;
    return html`<section class="card">
      <header><h2>${t("Open invitations")}</h2></header>
      <ul class="plain limits">
        ${list.map(
          (each) =>
            html`<li>
              <div class="spread">
                <span>${each.email} <span class="badge">${roleName(each.role)}</span></span>
                <span class="row"
                  ><span class="quiet">${t("ends {when}", { when: ago(each.expires_at) })}</span>${writes
                    ? html`<button
                        class="button bare"
                        @click=${() => this.revoke(each)}
                        aria-label=${t("Revoke the invitation of {email}", each)}
                      >
                        ${t("Revoke")}
                      </button>`
                    : nothing}</span
                >
              </div>
            </li>`,
        )}
      </ul>
    </section>`;
  }
}

define("page-members", PageMembers);
