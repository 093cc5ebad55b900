import * as v from "valibot";

/** The path of the forwarder that taps send output to. */
export const OUTPUT_PATH = "/runyard/output";
/** The file next to the taps that contains the path of the forwarder's socket while somebody watches the run. */
export const WATCHED_FILE = "watched";
/** The file name of a module that the relay loads, if the agent has one. It observes the agent's commands from outside. */
export const OBSERVER_FILE = "observer.mjs";
/** The file name of `TAP`. */
export const TAP_FILE = "tap.mjs";

const Output = v.object({
  /** What the agent executes, which contains the model's command. */
  script: v.string(),
  /** Bytes that are missing before `data`. */
  skipped: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Base64. */
  data: v.pipe(v.string(), v.base64()),
});

/** A piece of the output of a command that an agent executes. It comes from the sandbox, so it may be forged. */
export interface CommandOutput {
  readonly script: string;
  readonly skipped: number;
  readonly data: Buffer;
}

/** Returns the id of the longest command that a script contains, regardless of quotes. */
export function findCommand(commands: ReadonlyMap<string, string>, script: string): string | undefined {
  const text = removeQuotes(script);
  const matching = [...commands].filter(([, command]) => text.includes(removeQuotes(command)));
  return matching.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0];
}

const removeQuotes = (text: string): string => text.replace(/[\s'"\\]+/g, "");

/** Parses what a tap sent. Undefined if it is something else. */
export function parseCommandOutput(body: unknown): CommandOutput | undefined {
  const parsed = v.safeParse(Output, body);
  return parsed.success ? { ...parsed.output, data: Buffer.from(parsed.output.data, "base64") } : undefined;
}

/**
 * A module that runs inside the sandbox. It keeps the end of a command's output, and sends what is new four times a second while somebody
 * watches the run. It is a string because the deployed harness is a bundle and this must be a separate file.
 */
export const TAP = `import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
const KEPT_BYTES = 64 * 1024;
/** The socket that takes the output; undefined while nobody watches. */
export function readSocket() {
  try {
    return readFileSync(join(import.meta.dirname, "${WATCHED_FILE}"), "utf8");
  } catch {
    return undefined;
  }
}
export function createTap(script) {
  let chunks = [];
  let bytes = 0;
  let skipped = 0;
  let isSending = false;
  const send = () => {
    if (isSending || bytes + skipped === 0) return;
    const socketPath = readSocket();
    if (socketPath === undefined) return;
    const latest = Buffer.concat(chunks).subarray(-KEPT_BYTES);
    const body = JSON.stringify({ script, skipped: skipped + bytes - latest.length, data: latest.toString("base64") });
    chunks = [];
    bytes = 0;
    skipped = 0;
    isSending = true;
    const done = () => {
      isSending = false;
    };
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request({ socketPath, method: "POST", path: "${OUTPUT_PATH}", headers, agent: false }, (response) => response.resume());
    call.on("error", done).on("close", done).end(body);
  };
  const timer = setInterval(send, 250);
  timer.unref();
  return {
    skip(missing) {
      skipped += bytes + missing;
      chunks = [];
      bytes = 0;
    },
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= 2 * KEPT_BYTES) return;
      const latest = Buffer.from(Buffer.concat(chunks).subarray(-KEPT_BYTES));
      skipped += bytes - latest.length;
      chunks = [latest];
      bytes = latest.length;
    },
    end() {
      clearInterval(timer);
      send();
    },
  };
}
`;
