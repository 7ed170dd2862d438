/** Server-sent events, as the HTML standard reads them. */

export interface StreamEvent {
  /** Such as `progress`, `partial`, `node` or `answer`. */
  type: string;
  data: unknown;
  /** The last id so far. */
  id: string;
}

/** Yield the events of a reply. lastId: of the connection before. */
export async function* eventsOf(body: ReadableStream<Uint8Array>, lastId: string): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let type = "";
  let data: string[] = [];
  let id = lastId;
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) {
        return;
      }
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (line === "") {
          if (data.length > 0) {
            yield {type: type || "message", data: JSON.parse(data.join("\n")), id};
          }
          type = "";
          data = [];
        } else if (name === "event") {
          type = text;
        } else if (name === "data") {
          data.push(text);
        } else if (name === "id") {
          id = text;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
