/** Quotes a text as one word of a bash command. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
