/** Sending a file in parts: several at once, each again if it fails, and only those that are missing. */

import type {Client} from "openapi-fetch";
import type {components, paths} from "./schema.js";
import {ApiError, Unreachable} from "./errors.js";
import {type Retries, sleep, waitS} from "./retry.js";

export type Upload = components["schemas"]["Upload"];
export type UploadRequest = components["schemas"]["UploadRequest"];
export type Video = components["schemas"]["Video"];

export interface UploadOptions extends Partial<Omit<UploadRequest, "filename" | "size_bytes">> {
  filename?: string;
  onProgress?: (sent: number, size: number) => void;
  partsAtOnce?: number;
  /** By default made of the file's name, size and time of change, so that a second call goes on with the first. */
  idempotencyKey?: string;
}

/** Begin or go on with the upload of a file, send what is missing, and complete it. Throws ApiError and Unreachable. */
export async function send(
  api: Client<paths>,
  file: Blob & {name?: string; lastModified?: number},
  options: UploadOptions,
  retries: Retries,
): Promise<Video> {
  const {onProgress, partsAtOnce = 4, idempotencyKey, filename, ...fields} = options;
  const body: UploadRequest = {
    content_type: file.type || "video/mp4",
    ...fields,
    filename: filename ?? file.name ?? "upload",
    size_bytes: file.size,
  };
  const key = idempotencyKey ?? (await keyOf(file, body));
  const upload = await opened(api, body, key);
  if (upload.video_id !== null) {
    return await read(api, upload.video_id);
  }
  const length = (number: number): number =>
    Math.min(upload.part_size, upload.size_bytes - (number - 1) * upload.part_size);
  const missing = [...upload.missing_parts];
  let sent = upload.size_bytes - missing.reduce((total, number) => total + length(number), 0);
  onProgress?.(sent, upload.size_bytes);
  const worker = async (): Promise<void> => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const start = (number - 1) * upload.part_size;
      await sendPart(api, upload.id, number, file.slice(start, start + length(number)), retries);
      sent += length(number);
      onProgress?.(sent, upload.size_bytes);
    }
  };
  await Promise.all(Array.from({length: partsAtOnce}, worker));
  try {
    const path = {upload_id: upload.id};
    return (await api.POST("/v1/uploads/{upload_id}/complete", {params: {path}, body: {}})).data as Video;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) {
      const done = await state(api, upload.id);
      if (done.video_id !== null) {
        return await read(api, done.video_id);
      }
    }
    throw error;
  }
}

async function opened(api: Client<paths>, body: UploadRequest, key: string): Promise<Upload> {
  const begin = async (header: string): Promise<Upload> =>
    (await api.POST("/v1/uploads", {body, params: {header: {"Idempotency-Key": header}}})).data as Upload;
  try {
    // A replayed reply shows the upload as it was at first.
    const upload = await state(api, (await begin(key)).id);
    if (upload.video_id !== null) {
      await read(api, upload.video_id);
    }
    if (upload.status === "open" || upload.video_id !== null) {
      return upload;
    }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) {
      throw error;
    }
  }
  // It was aborted, has expired, or its video was deleted: the file begins a new one.
  return await begin(crypto.randomUUID());
}

async function state(api: Client<paths>, uploadId: string): Promise<Upload> {
  return (await api.GET("/v1/uploads/{upload_id}", {params: {path: {upload_id: uploadId}}})).data as Upload;
}

async function read(api: Client<paths>, videoId: string): Promise<Video> {
  return (await api.GET("/v1/videos/{video_id}", {params: {path: {video_id: videoId}}})).data as Video;
}

async function sendPart(
  api: Client<paths>,
  uploadId: string,
  number: number,
  part: Blob,
  retries: Retries,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const path = {upload_id: uploadId};
    const urls = await api.POST("/v1/uploads/{upload_id}/part-urls", {params: {path}, body: {part_numbers: [number]}});
    const target = urls.data?.data[0];
    let problem = "it has no URL";
    let response: Response | undefined;
    if (target !== undefined) {
      try {
        response = await fetch(target.url, {method: "PUT", body: part, headers: target.headers as Record<string, string>});
        if (response.ok) {
          return;
        }
        problem = `the storage answered ${response.status}`;
      } catch (error) {
        problem = String(error);
      }
    }
    if (attempt >= retries.attempts) {
      throw new Unreachable(`part ${number} of ${uploadId} could not be sent: ${problem}`, "");
    }
    await sleep(waitS(retries, attempt, response));
  }
}

async function keyOf(file: Blob & {name?: string; lastModified?: number}, body: UploadRequest): Promise<string> {
  if (file.lastModified === undefined) {
    return crypto.randomUUID();
  }
  const text = JSON.stringify([file.name, file.size, file.lastModified, Object.entries(body).sort()]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `upload-${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
