/** What can go wrong. Every error of the service is an ApiError with the stable `code` of its problem document. */

export interface ValueProblem {
  pointer: string;
  code: string;
  detail: string;
}

/** The base of all errors of this package. */
export class AvaError extends Error {
  override name = "AvaError";
}

/** The service refused a request. Branch on `code`; sentences may change. Quote `requestId` to support. */
export class ApiError extends AvaError {
  override name = "ApiError";
  readonly code: string;
  readonly requestId: string;
  readonly errors: readonly ValueProblem[];
  /** Seconds that the service asked to wait; undefined without a wish. */
  readonly retryAfterS: number | undefined;

  constructor(
    readonly status: number,
    problem: {code?: string; detail?: string; request_id?: string; errors?: ValueProblem[]},
    headers: Headers,
    /** The request's Idempotency-Key; empty without one. */
    readonly key: string,
  ) {
    const code = problem.code ?? `http_${status}`;
    const requestId = problem.request_id ?? headers.get("x-request-id") ?? "";
    super(`${problem.detail ?? `HTTP ${status}`} [${code}, request ${requestId}]`);
    this.code = code;
    this.requestId = requestId;
    this.errors = problem.errors ?? [];
    this.retryAfterS = secondsToWait(headers);
  }
}

/** No reply came, so the outcome is unknown. Send the same request with this `key`, and it takes effect once. */
export class Unreachable extends AvaError {
  override name = "Unreachable";
  constructor(
    message: string,
    readonly key: string,
  ) {
    super(message);
  }
}

/** A video, question or search ended without a result. */
export class WorkFailed extends AvaError {
  override name = "WorkFailed";
  constructor(
    readonly resourceId: string,
    readonly code: string,
    message: string,
  ) {
    super(`${resourceId}: ${message} [${code}]`);
  }
}

/** The work had no outcome in the time that was allowed. It goes on in the service. */
export class WaitTimeout extends AvaError {
  override name = "WaitTimeout";
  constructor(readonly resourceId: string) {
    super(`${resourceId} had no outcome in time; it goes on in the service`);
  }
}

/** Return Retry-After in seconds; undefined without one, or if it is a date. */
export function secondsToWait(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  const seconds = text === null ? NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/** Return the error of a reply. */
export async function errorOf(response: Response, key: string): Promise<ApiError> {
  let problem: Record<string, unknown> = {};
  try {
    problem = (await response.json()) as Record<string, unknown>;
  } catch {
    // a proxy answered, without a problem document
  }
  return new ApiError(response.status, problem, response.headers, key);
}
