const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats a number of bytes with a binary unit, such as `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
