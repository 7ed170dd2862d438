/** Webhooks: check the signature of a delivery (Standard Webhooks 1.0) and read its event. */

import {AvaError} from "./errors.js";

const TOLERANCE_S = 300;

/** The delivery was not signed with this secret, or too long ago. */
export class InvalidSignature extends AvaError {
  override name = "InvalidSignature";
}

export interface WebhookEvent {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/**
 * Return the event of a delivery. body: the text as it arrived. secret: `whsec_…` of the endpoint. nowS: the time, for
 * tests. Throws InvalidSignature.
 */
export async function unwrap(
  body: string,
  headers: Headers | Record<string, string>,
  secret: string,
  nowS = Date.now() / 1000,
): Promise<WebhookEvent> {
  const sent = new Headers(headers);
  const [id, stamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = sent.get(name);
    if (value === null) {
      throw new InvalidSignature(`the delivery has no header ${name}`);
    }
    return value;
  }) as [string, string, string];
  if (!(Math.abs(nowS - Number(stamp)) <= TOLERANCE_S)) {
    throw new InvalidSignature("the delivery is too old, or its time cannot be read");
  }
  const raw = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (each) => each.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", raw, {name: "HMAC", hash: "SHA-256"}, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${stamp}.${body}`);
  for (const each of signatures.split(" ")) {
    if (each.startsWith("v1,") && (await crypto.subtle.verify("HMAC", key, decoded(each.slice(3)), signed))) {
      return JSON.parse(body) as WebhookEvent;
    }
  }
  throw new InvalidSignature("the delivery was not signed with this secret");
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
