/** The client: a key and an address, and what most programs do with them. */

import createClient, {type Client} from "openapi-fetch";
import type {components, paths} from "./schema.js";
import {AvaError, WaitTimeout, WorkFailed} from "./errors.js";
import {type StreamEvent, eventsOf} from "./events.js";
import {type Retries, STANDARD, retrying, sleep} from "./retry.js";
import {type UploadOptions, type Video, send} from "./upload.js";

type Schemas = components["schemas"];
export type Question = Schemas["Question"];
export type QuestionRequest = Schemas["QuestionRequest"];
export type Search = Schemas["Search"];
export type SearchRequest = Schemas["SearchRequest"];
export type Comparison = Schemas["Comparison"];
export type ComparisonRequest = Schemas["ComparisonRequest"];

export interface AvaOptions {
  /** By default AVA_API_KEY of the environment. A page of the web app has a session instead, and gives "". */
  apiKey?: string;
  /** Address of the service; by default AVA_BASE_URL. */
  baseUrl?: string;
  retries?: Retries;
  fetch?: typeof fetch;
}

export interface Waiting {
  timeoutS?: number;
  idempotencyKey?: string;
}

const HELD_S = 50;
const ENDED = new Set(["succeeded", "failed", "canceled"]);

/** A client of one tenant. Every operation of the API is a path of `api`, with its types. */
export class Ava {
  readonly api: Client<paths>;
  readonly videos: Videos;
  readonly #send: (request: Request) => Promise<Response>;
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;

  constructor(options: AvaOptions = {}) {
    const environment = typeof process === "undefined" ? {} : process.env;
    const key = options.apiKey ?? environment["AVA_API_KEY"];
    const url = options.baseUrl ?? environment["AVA_BASE_URL"];
    if (key === undefined || url === undefined) {
      throw new AvaError("give apiKey and baseUrl, or set AVA_API_KEY and AVA_BASE_URL");
    }
    const plain = options.fetch ?? fetch;
    const retries = options.retries ?? STANDARD;
    this.#baseUrl = url.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#headers = key === "" ? {} : {Authorization: `Bearer ${key}`};
    this.#send = retrying((request) => plain(request), retries);
    this.api = createClient<paths>({baseUrl: this.#baseUrl, headers: this.#headers, fetch: this.#send});
    this.videos = new Videos(this.api, retries);
  }

  /** Ask, and wait for the answer. Throws WorkFailed, WaitTimeout and ApiError. */
  async ask(body: QuestionRequest, {timeoutS = 600, idempotencyKey}: Waiting = {}): Promise<Question> {
    const ends = Date.now() + timeoutS * 1000;
    const header = {...key(idempotencyKey), Prefer: held(timeoutS)};
    let asked = (await this.api.POST("/v1/questions", {body, params: {header}})).data as Question;
    while (!ENDED.has(asked.status)) {
      asked = await this.#later(asked.id, ends, async () => {
        const path = {question_id: asked.id};
        return (await this.api.GET("/v1/questions/{question_id}", {params: {path}})).data as Question;
      });
    }
    return succeeded(asked);
  }

  /** Ask, and yield `progress`, `partial`, `node`, and at the end `answer`. A stream that is cut goes on. */
  async *askStream(body: QuestionRequest): AsyncGenerator<StreamEvent> {
    const asked = (await this.api.POST("/v1/questions", {body})).data as Question;
    let lastId = "";
    for (;;) {
      const headers = {...this.#headers, Accept: "text/event-stream", ...(lastId === "" ? {} : {"Last-Event-ID": lastId})};
      try {
        const request = new Request(`${this.#baseUrl}/v1/questions/${asked.id}/stream`, {headers});
        const response = await this.#send(request);
        if (response.body !== null) {
          for await (const event of eventsOf(response.body, lastId)) {
            lastId = event.id;
            yield event;
            if (event.type === "answer") {
              return;
            }
          }
        }
      } catch (error) {
        if (error instanceof AvaError) {
          throw error;
        }
        // the connection was cut: the next one goes on
      }
      await sleep(1);
    }
  }

  /** Search events by words, and wait for the results; none is no error. Throws WorkFailed, WaitTimeout, ApiError. */
  async search(body: SearchRequest, {timeoutS = 120, idempotencyKey}: Waiting = {}): Promise<Search> {
    const ends = Date.now() + timeoutS * 1000;
    const header = {...key(idempotencyKey), Prefer: held(timeoutS)};
    let found = (await this.api.POST("/v1/search", {body, params: {header}})).data as Search;
    while (!ENDED.has(found.status)) {
      found = await this.#later(found.id, ends, async () => {
        const path = {search_id: found.id};
        return (await this.api.GET("/v1/searches/{search_id}", {params: {path}})).data as Search;
      });
    }
    return succeeded(found);
  }

  /** Compare methods on your own questions, and wait for the figures. Throws WaitTimeout and ApiError. */
  async compare(body: ComparisonRequest, {timeoutS = 3600, idempotencyKey}: Waiting = {}): Promise<Comparison> {
    const ends = Date.now() + timeoutS * 1000;
    const header = key(idempotencyKey);
    let made = (await this.api.POST("/v1/comparisons", {body, params: {header}})).data as Comparison;
    while (made.completed_at === null) {
      made = await this.#later(made.id, ends, async () => {
        const path = {comparison_id: made.id};
        return (await this.api.GET("/v1/comparisons/{comparison_id}", {params: {path}})).data as Comparison;
      });
    }
    return made;
  }

  async #later<T>(id: string, ends: number, look: () => Promise<T>): Promise<T> {
    if (Date.now() >= ends) {
      throw new WaitTimeout(id);
    }
    await sleep(1);
    return await look();
  }
}

/** `ava.videos`. */
export class Videos {
  constructor(
    private readonly api: Client<paths>,
    private readonly retries: Retries,
  ) {}

  /**
   * Send a file, and return its video, which is then indexed. file: a File or Blob, or in Node a path. A file that was
   * sent in part goes on where it was, and one that had arrived gives the same video, within 24 hours.
   */
  async upload(file: Blob | string, options: UploadOptions = {}): Promise<Video> {
    return await send(this.api, typeof file === "string" ? await opened(file) : file, options, this.retries);
  }

  /** Have the service fetch a public https URL. */
  async addUrl(url: string, fields: Omit<Schemas["VideoRequest"], "source"> = {}): Promise<Video> {
    const body = {...fields, source: {type: "url" as const, url}};
    return (await this.api.POST("/v1/videos", {body})).data as Video;
  }

  async get(videoId: string): Promise<Video> {
    return (await this.api.GET("/v1/videos/{video_id}", {params: {path: {video_id: videoId}}})).data as Video;
  }

  /** Wait until the whole video is indexed. Throws WorkFailed, WaitTimeout and ApiError. */
  async waitReady(
    videoId: string,
    {timeoutS = 86_400, onProgress}: {timeoutS?: number; onProgress?: (video: Video) => void} = {},
  ): Promise<Video> {
    const ends = Date.now() + timeoutS * 1000;
    for (let pause = 1; ; pause = Math.min(10, pause * 1.3)) {
      const video = await this.get(videoId);
      onProgress?.(video);
      if (video.status === "ready") {
        return video;
      }
      if (video.status === "failed") {
        throw new WorkFailed(video.id, video.error?.code ?? "failed", video.error?.message ?? "The video failed.");
      }
      if (Date.now() + pause * 1000 > ends) {
        throw new WaitTimeout(videoId);
      }
      await sleep(pause);
    }
  }

  /** Yield the tenant's videos, newest first, over all pages. */
  async *list(): AsyncGenerator<Video> {
    let cursor: string | undefined;
    do {
      const query = {limit: 100, ...(cursor === undefined ? {} : {cursor})};
      const page = (await this.api.GET("/v1/videos", {params: {query}})).data as Schemas["VideoPage"];
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Return the captions as WebVTT, or as SRT. */
  async captions(videoId: string, {srt = false, track}: {srt?: boolean; track?: number} = {}): Promise<string> {
    const params = {path: {video_id: videoId}, query: track === undefined ? {} : {track}};
    const options = {params, parseAs: "text" as const};
    const reply = srt
      ? await this.api.GET("/v1/videos/{video_id}/captions.srt", options)
      : await this.api.GET("/v1/videos/{video_id}/captions.vtt", options);
    return reply.data as string;
  }
}

function key(value: string | undefined): {"Idempotency-Key"?: string} {
  return value === undefined ? {} : {"Idempotency-Key": value};
}

function held(timeoutS: number): string {
  return `wait=${Math.max(1, Math.min(HELD_S, Math.floor(timeoutS)))}`;
}

function succeeded<T extends Question | Search>(work: T): T {
  if (work.status !== "succeeded") {
    throw new WorkFailed(work.id, work.error?.code ?? work.status, work.error?.message ?? `it was ${work.status}`);
  }
  return work;
}

async function opened(path: string): Promise<Blob & {name: string; lastModified: number}> {
  const [{openAsBlob}, {stat}, {basename}] = await Promise.all([
    import("node:fs"),
    import("node:fs/promises"),
    import("node:path"),
  ]);
  const blob = await openAsBlob(path);
  return Object.assign(blob, {name: basename(path), lastModified: (await stat(path)).mtimeMs});
}
