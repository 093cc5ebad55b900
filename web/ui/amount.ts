export interface Amount {
  /** Absent if the text is empty or no amount. */
  readonly value?: number;
  /** What is wrong with the text. */
  readonly error?: string;
}

/** Parses what a person has written into a field for an amount. */
export function parseAmount(text: string): Amount {
  const given = text.trim();
  if (given === "") return {};
  return /^(\d+\.?\d*|\.\d+)$/.test(given) ? { value: Number(given) } : { error: "Write a plain number, such as 10." };
}
