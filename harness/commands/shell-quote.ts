/** The text as one word of a command of bash. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
