export {
  Ava,
  type AvaOptions,
  type Comparison,
  type ComparisonRequest,
  type Question,
  type QuestionRequest,
  type Search,
  type SearchRequest,
  Videos,
} from "./client.js";
export {ApiError, AvaError, Unreachable, type ValueProblem, WaitTimeout, WorkFailed} from "./errors.js";
export type {StreamEvent} from "./events.js";
export type {Retries} from "./retry.js";
export type {components, operations, paths} from "./schema.js";
export type {UploadOptions, Video} from "./upload.js";
export * as webhooks from "./webhooks.js";
