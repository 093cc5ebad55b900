import { parseJson } from "../../support/parse-json.ts";
import { isMembers, type Members, mergeMembers, toText } from "./members.ts";
import { parseToolInput } from "./tool-input.ts";

/** A tool call while its pieces arrive. */
interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  arguments: string;
  /** Members that are sent back as they came, such as signatures. */
  rest: Members;
  functionRest: Members;
}

/** A tool call of a response, with everything that the provider returned with it. */
export interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly rest: Members;
  readonly functionRest: Members;
}

/**
 * Collects the calls of a streamed response. Pieces belong together by their id and their index. Servers omit either of them, give
 * all calls the index 0, or repeat the id and the name in each piece, so a piece also begins a call if it cannot continue another.
 */
export class CallCollector {
  readonly #calls: OpenCall[] = [];

  add(pieces: readonly unknown[]): void {
    for (const [position, piece] of pieces.entries())
      if (isMembers(piece)) this.#addPiece(piece, position, pieces.length);
  }

  /** The calls in the order of their indexes, or of their beginnings where these are not in order. */
  get calls(): readonly ChatCall[] {
    const named = this.#calls.filter(({ name, id, arguments: text }) => name !== "" || id !== "" || text !== "");
    const indexes = named.map(({ index }) => index);
    const areDistinct = indexes.every((index) => typeof index === "number") && new Set(indexes).size === named.length;
    return areDistinct ? named.toSorted((a, b) => Number(a.index) - Number(b.index)) : named;
  }

  #addPiece(piece: Members, position: number, count: number): void {
    const { id: sentId, index, function: sentFunction, type: _, ...rest } = piece;
    const { name: sentName, arguments: sentArguments, ...functionRest } = isMembers(sentFunction) ? sentFunction : {};
    const id = toText(sentId);
    const name = toText(sentName);
    const text = typeof sentArguments === "string" ? sentArguments : "";
    const whole = isMembers(sentArguments) ? JSON.stringify(sentArguments) : undefined;
    let call = this.#find({ id, name, index, hasArguments: text !== "" || whole !== undefined }, position, count);
    if (call === undefined) {
      call = { index, id, name: "", arguments: "", rest: {}, functionRest: {} };
      this.#calls.push(call);
    }
    if (call.id === "") call.id = id;
    call.name = mergeName(call.name, name);
    // Some servers send the whole input again with the last piece.
    if (whole !== undefined) call.arguments = whole;
    else if (text !== call.arguments || !isComplete(text)) call.arguments += text;
    call.rest = mergeMembers(call.rest, rest);
    call.functionRest = mergeMembers(call.functionRest, functionRest);
  }

  #find(
    { id, name, index, hasArguments }: { id: string; name: string; index: unknown; hasArguments: boolean },
    position: number,
    count: number,
  ): OpenCall | undefined {
    const hasIndex = typeof index === "number";
    const candidates = hasIndex ? this.#calls.filter((call) => call.index === index) : this.#calls;
    if (id !== "") {
      const same = candidates.findLast((call) => call.id === id);
      if (same !== undefined) return same;
      // The id of a call may come after its name.
      const late = candidates.at(-1);
      return late?.id === "" && hasIndex && !(isComplete(late.arguments) && hasArguments) ? late : undefined;
    }
    const last = hasIndex || count === 1 ? candidates.at(-1) : this.#calls.at(position - count);
    if (last === undefined) return undefined;
    if (name === "" || last.name === "") return last;
    const isRepeated = name === last.name && !(isComplete(last.arguments) && hasArguments);
    return isRepeated || (hasIndex && !isComplete(last.arguments)) ? last : undefined;
  }
}

/** Joins the pieces of a name, which is usually sent once, sometimes in each piece and rarely in parts. */
function mergeName(before: string, piece: string): string {
  if (piece === "" || piece === before) return before;
  return piece.startsWith(before) ? piece : before + piece;
}

const isComplete = (text: string): boolean => isMembers(parseJson(text));

/** Returns the input as valid JSON, unchanged if it is valid. */
export const toValidArguments = (text: string): string =>
  isComplete(text) ? text : JSON.stringify(parseToolInput(text));
