/** An object of a provider, whose members are unknown here. */
export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const toText = (value: unknown): string => (typeof value === "string" ? value : "");

export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Members whose pieces are joined; a later piece of any other text replaces the earlier one. */
const STREAMED = new Set([
  ...["content", "refusal", "reasoning", "reasoning_content", "reasoning_text", "thinking", "thinking_content"],
  ...["text", "summary", "data", "arguments"],
]);

/** Adds the members of a piece of a streamed object: texts are joined, lists continued and objects merged; null adds nothing. */
export function mergeMembers(whole: Members, piece: Members): Members {
  const merged: Record<string, unknown> = { ...whole };
  for (const [name, value] of Object.entries(piece)) {
    const before = merged[name];
    if (value === null || value === undefined) merged[name] = before ?? value;
    else if (typeof value === "string" && typeof before === "string" && STREAMED.has(name))
      merged[name] = before + value;
    else if (Array.isArray(value) && Array.isArray(before)) merged[name] = value.reduce(mergeItem, before);
    else if (isMembers(value) && isMembers(before)) merged[name] = mergeMembers(before, value);
    else merged[name] = value;
  }
  return merged;
}

/** Continues the last item of a list if the piece is of the same kind and place, and appends the piece otherwise. */
function mergeItem(items: readonly unknown[], piece: unknown): readonly unknown[] {
  const last = items.at(-1);
  const isSame =
    isMembers(last) && isMembers(piece) && last["type"] === piece["type"] && last["index"] === piece["index"];
  // An item with a signature or an id of its own is complete.
  const isNext =
    isMembers(piece) &&
    isMembers(last) &&
    piece["id"] !== undefined &&
    last["id"] !== undefined &&
    last["id"] !== piece["id"];
  return isSame && !isNext ? [...items.slice(0, -1), mergeMembers(last, piece)] : [...items, piece];
}
