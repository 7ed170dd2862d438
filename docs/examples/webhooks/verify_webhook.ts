// Verify a webhook of AVA Cloud. It needs Node's standard library only.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;

/** The request does not come from AVA Cloud, or is too old: answer 400 and do nothing else. */
export class InvalidWebhook extends Error {}

export interface WebhookEvent {
  type: string;
  timestamp: string;
  sequence: number;
  data: Record<string, unknown>;
  endpoint_sequence: number;
}

/**
 * Return the event of a request. Throws InvalidWebhook.
 *
 * secret: the endpoint's signing secret, which begins with `whsec_`. headers: names in lower case, as Node gives them.
 * body: the bytes as they arrived, so parse no JSON before.
 */
export function verify(
  secret: string,
  headers: Record<string, string | undefined>,
  body: Buffer,
  now: number = Date.now() / 1000,
): WebhookEvent {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (!id || !timestamp || !/^\d+$/.test(timestamp) || !signatures) {
    throw new InvalidWebhook("a header is missing or malformed");
  }
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_S) {
    throw new InvalidWebhook("the timestamp is too far from now");
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const expected = Buffer.from(`v1,${digest}`);
  // After a rotation a request carries two signatures; one that fits is enough.
  const fits = signatures.split(" ").some((each) => {
    const given = Buffer.from(each);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!fits) {
    throw new InvalidWebhook("no signature fits the body and the secret");
  }
  return JSON.parse(body.toString("utf8")) as WebhookEvent;
}
