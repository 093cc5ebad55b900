import { StringDecoder } from "node:string_decoder";
import { cutBytesFromEnd } from "../support/text-limits.ts";

/** Takes apart what an agent prints. */
export interface Lines {
  readonly push: (chunk: Buffer) => void;
  /** The rest is a line too. */
  end(): void;
  /** The last of what is no JSON: what the agent, or what started it, complained of. */
  noise(): string;
}

/** A longer line is none that an agent means to be read. */
const LINE_CHARACTERS = 32 * 1024 * 1024;
const NOISE_BYTES = 2_000;

/** `read` is given each line that holds a JSON object. */
export function createLines(read: (line: unknown) => void): Lines {
  const decoder = new StringDecoder("utf8");
  /** The line that has not ended yet, in the pieces in which it came: joined once, however many they are. */
  let pieces: string[] = [];
  let characters = 0;
  let noise = "";

  const take = (line: string) => {
    if (line.trim() === "") return;
    const json = line.startsWith("{") ? parseJson(line) : undefined;
    if (json === undefined) noise = cutBytesFromEnd(`${noise}${line}\n`, NOISE_BYTES);
    else read(json);
  };
  const keep = (piece: string) => {
    const kept = piece.slice(0, LINE_CHARACTERS - characters);
    characters += kept.length;
    if (kept !== "") pieces.push(kept);
  };
  const finish = (): string => {
    const line = pieces.join("");
    pieces = [];
    characters = 0;
    return line;
  };
  return {
    push(chunk) {
      const [first = "", ...others] = decoder.write(chunk).split("\n");
      keep(first);
      for (const next of others) {
        take(finish());
        keep(next);
      }
    },
    end: () => take(finish()),
    noise: () => noise.trim(),
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
