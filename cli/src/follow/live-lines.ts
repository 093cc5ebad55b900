import type { LiveFrame } from "../../../clients/typescript/src/index.ts";

/** Output that is compared with the whole output at the end; of more, only the lines are counted. */
const MAX_KEPT = 65_536;

interface Shown {
  /** What has come so far; undefined if something is missing in it. */
  text: string | undefined;
  /** The bytes that have come, those that were skipped included. */
  end: number;
  /** The beginning of a line that is not complete. */
  open: string;
}

/** Cuts live output into lines, each of which is shown once. */
export class LiveLines {
  readonly #shown = new Map<string, Shown>();

  /** Returns the lines that a frame completes. */
  take({ action_id, message_id, offset, text }: LiveFrame): string[] {
    const id = action_id ?? message_id ?? "";
    const state = this.#shown.get(id) ?? { text: "", end: 0, open: "" };
    this.#shown.set(id, state);
    const isSkipped = offset > state.end;
    if (isSkipped) state.text = undefined;
    const lines = ((isSkipped ? "" : state.open) + text).split("\n");
    state.open = lines.pop() ?? "";
    state.end = offset + new TextEncoder().encode(text).length;
    if (state.text !== undefined) state.text += text;
    if ((state.text?.length ?? 0) > MAX_KEPT) state.text = undefined;
    return isSkipped ? ["[…]", ...lines] : lines;
  }

  /** Whether something of an output was shown that is not complete. */
  has(id: string | undefined): boolean {
    return id !== undefined && this.#shown.has(id);
  }

  /** Returns what was not shown of an output that is complete; undefined if nothing of it was shown. */
  finish(id: string | undefined, output: string): string | undefined {
    const state = id === undefined ? undefined : this.#shown.get(id);
    if (id === undefined || state === undefined) return undefined;
    this.#shown.delete(id);
    const { text, open } = state;
    if (text !== undefined && output.startsWith(text)) return open + output.slice(text.length);
    // The output was truncated or joined with other text; the end of it is what was missing.
    return open === "" ? "" : (output.trimEnd().split("\n").at(-1) ?? "");
  }
}
