export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The normal quantile of 95 %. */
const Z = 1.959964;

/** Wilson's score interval of a share: it stays within 0 and 1, and is not empty where all or none passed. */
export function calculateWilsonInterval(passed: number, total: number): Interval {
  if (total === 0) return { low: 0, high: 1 };
  const share = passed / total;
  const scale = 1 + Z ** 2 / total;
  const center = (share + Z ** 2 / (2 * total)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / total + Z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, center - half), high: Math.min(1, center + half) };
}
