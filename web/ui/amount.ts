export interface Amount {
  /** Absent if the text is empty or no amount. */
  readonly value?: number;
  /** What is wrong with the text. */
  readonly error?: string;
}

/** Parses what a person has written into a field for an amount. */
export function parseAmount(text: string): Amount {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  return /^(\d+\.?\d*|\.\d+)$/.test(trimmed)
    ? { value: Number(trimmed) }
    : { error: "Write a plain number, such as 10." };
}
