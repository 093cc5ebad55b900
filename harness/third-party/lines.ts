import { StringDecoder } from "node:string_decoder";
import { parseJson } from "../support/parse-json.ts";
import { cutBytesFromEnd } from "../support/text-limits.ts";

/** Splits the output of an agent into lines. */
export interface Lines {
  readonly push: (chunk: Buffer) => void;
  /** Treats the rest of the output as a line. */
  end(): void;
  /** Returns the last output that is not JSON, such as error messages. */
  noise(): string;
}

/** The longest line; the rest of a longer one is dropped. */
const LINE_CHARACTERS = 32 * 1024 * 1024;
const NOISE_BYTES = 2_000;

/** @param read called with each line that is a JSON object */
export function createLines(read: (line: unknown) => void): Lines {
  const decoder = new StringDecoder("utf8");
  /** The pieces of the current line, which are joined once at its end. */
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
    const fitting = piece.slice(0, LINE_CHARACTERS - characters);
    characters += fitting.length;
    if (fitting !== "") pieces.push(fitting);
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
