// All uploads of this tab. They go on while pages change, and are announced at most five times each.
import { get, remove } from "../api/client.js";
import { Resource } from "../app/element.js";
import { t } from "../app/language.js";
import { session } from "../app/session.js";
import { isSame, quarter } from "./core.js";
import { forget, records } from "./records.js";
import { Transfer } from "./transfer.js";

/** Fires `change` and `announce` (detail: words). */
class Uploads extends EventTarget {
  constructor() {
    super();
    /** @type {Transfer[]} */
    this.transfers = [];
    this.indexing = new Resource(this, () => this.look(), "video");
  }

  requestUpdate() {
    this.dispatchEvent(new Event("change"));
  }

  /** Uploads of earlier pages that wait for their file. */
  get interrupted() {
    const under = new Set(this.transfers.map((each) => each.id));
    return records(session.tenant?.slug ?? "").filter((record) => !under.has(record.id));
  }

  /** Send files. @param {Iterable<File>} files @param {string} [collection] */
  add(files, collection) {
    const tenant = session.tenant?.slug ?? "";
    for (const file of files) {
      const running = this.transfers.some(
        (each) =>
          each.tenant === tenant &&
          !each.video &&
          isSame(
            { id: "", checked: false, name: each.file.name, size: each.file.size, modified: each.file.lastModified },
            file,
          ),
      );
      if (running) continue;
      const transfer = new Transfer(file, { tenant, collection });
      let told = 0;
      transfer.addEventListener("change", () => {
        const reached = transfer.state === "uploading" ? quarter(told, transfer.share) : null;
        if (reached) {
          told = reached / 100;
          this.announce(t("{name}: {percent} % sent", { name: file.name, percent: reached }));
        }
        if (transfer.state === "indexing" && told < 1) {
          told = 1;
          this.announce(t("{name} has arrived and is being indexed", { name: file.name }));
          void this.indexing.reload();
        }
        this.dispatchEvent(new Event("change"));
      });
      this.transfers = [...this.transfers, transfer];
      this.announce(t("Sending {name}", { name: file.name }));
      void transfer.run();
    }
    this.dispatchEvent(new Event("change"));
  }

  /** @param {string} words */
  announce(words) {
    this.dispatchEvent(new CustomEvent("announce", { detail: words }));
  }

  /** @param {Transfer} transfer */
  dismiss(transfer) {
    this.transfers = this.transfers.filter((each) => each !== transfer);
    this.dispatchEvent(new Event("change"));
  }

  /** End an upload whose file nobody will choose again. @param {string} id */
  async drop(id) {
    forget(session.tenant?.slug ?? "", id);
    this.dispatchEvent(new Event("change"));
    await remove(`/uploads/${id}`).catch(() => {});
  }

  /** Ask how far the sent videos are. */
  async look() {
    const waiting = this.transfers.filter(
      (each) => each.state === "indexing" && each.video && each.tenant === session.tenant?.slug,
    );
    for (const transfer of waiting) {
      /** @type {import("../api/types.js").Video | null} */
      const video = await get(`/videos/${transfer.video}`).catch(() => null);
      if (!video) continue;
      if (video.status !== "queued") transfer.indexed = video.duration_ms ? video.indexed_until_ms / video.duration_ms : 0;
      if (video.status === "ready" || video.status === "failed") {
        transfer.error = video.error;
        transfer.become(video.status);
      }
    }
  }
}

export const uploads = new Uploads();

// A page that is left while a part is on its way loses only this part; the browser asks all the same.
addEventListener("beforeunload", (event) => {
  if (uploads.transfers.some((each) => each.state === "uploading")) event.preventDefault();
});
addEventListener("ava-tenant", () => uploads.dispatchEvent(new Event("change")));
