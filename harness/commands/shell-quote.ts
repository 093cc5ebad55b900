/** The text as one word of a command of bash. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
