/** The first text that shows something, unlike one that is absent or blank. */
export const firstText = (texts: readonly unknown[]): string | undefined =>
  texts.find((text): text is string => typeof text === "string" && text.trim() !== "");
