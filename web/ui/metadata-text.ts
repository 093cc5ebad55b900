/** Metadata as people write it: one `name=value` in each line. */

export const formatMetadata = (metadata: Readonly<Record<string, string>> = {}): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");

/** Says which line is not `name=value`, if one is not. */
export function checkMetadata(text: string): string | undefined {
  const wrong = text.split("\n").find((line) => line.trim() !== "" && !/^[^=]+=/.test(line.trim()));
  return wrong === undefined ? undefined : `Write name=value instead of ${wrong.trim().slice(0, 60)}.`;
}

/** Parses metadata; undefined if there is none. */
export function parseMetadata(text: string): Readonly<Record<string, string>> | undefined {
  const lines = text.split("\n").filter((line) => line.includes("="));
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => [line.split("=")[0]?.trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
}
