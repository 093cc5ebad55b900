const FACTORS: Readonly<Record<string, number>> = {
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/** Parses a size such as `50GB` or `1.5 TiB`; undefined if it is not one. */
export function parseSize(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([mgt]i?b)$/i.exec(text.trim()) ?? [];
  const factor = FACTORS[unit.toLowerCase()];
  return factor === undefined || Number(number) === 0 ? undefined : Math.floor(Number(number) * factor);
}
