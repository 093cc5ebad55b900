import type { IncomingMessage } from "node:http";
import * as v from "valibot";

const ProblemBody = v.pipe(v.string(), v.parseJson(), v.object({ error: v.string() }));
const MAX_CHARACTERS = 300;
const MAX_BYTES = 64 * 1024;

/** Describes a response that refuses a request: its status, and the reason if it has one. */
export function describeRefusal(status: number, body: string): string {
  const parsed = v.safeParse(ProblemBody, body);
  const reason = (parsed.success ? parsed.output.error : body.trim()).slice(0, MAX_CHARACTERS);
  return reason === "" ? String(status) : `${status}: ${reason}`;
}

/** Reads and describes the response that refuses a WebSocket connection. */
export async function readRefusal(response: IncomingMessage): Promise<string> {
  let body = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      body += chunk;
      if (body.length > MAX_BYTES) break;
    }
  } catch {
    // The status is enough.
  }
  return describeRefusal(response.statusCode ?? 0, body);
}
