// What a TypeScript customer writes. It must compile: defaults may be left out, and responses may hold new values.
import type {components, operations} from "./schema.js";

type Schemas = components["schemas"];

export const question: Schemas["QuestionRequest"] = { question: "What happens?", video_ids: ["vid_1"] };
export const upload: Schemas["UploadRequest"] = { filename: "a.mp4", size_bytes: 1, content_type: "video/mp4" };
export const search: Schemas["SearchRequest"] = { query: "a red car", video_ids: ["vid_1"] };
export const status: Schemas["Video"]["status"] = "a status of a later release";
export const finish: Schemas["Question"]["finish_reason"] = null;
export const charge: string = ({} as Schemas["UsageEvent"]).reason;
export const page: operations["listVideos"]["parameters"] = { query: {} };

type Reply<Name extends keyof operations, Media extends string> = operations[Name] extends {
  responses: { 200: { content: { [media in Media]: infer Body } } };
}
  ? Body
  : never;

export const kept: [string, string, string] = [
  "" as Reply<"getInvoicePdf", "application/pdf">,
  "" as Reply<"listQuestionBatchResults", "application/x-ndjson">,
  "" as Reply<"streamQuestion", "text/event-stream">,
];
// @ts-expect-error: requests take only the values that are documented.
export const closed: Schemas["QuestionRequest"] = { question: "?", video_ids: ["vid_1"], effort: "extreme" };
