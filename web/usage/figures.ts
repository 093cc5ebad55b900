const DAY_MS = 86_400_000;
export const toDay = (ago: number, now = Date.now()): string => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);

/** Splits the days of two periods of the same length into the current one and the one before. */
export function splitPeriods<T extends { readonly key: string | null }>(
  buckets: readonly T[],
  days: number,
  now = Date.now(),
) {
  const first = toDay(days - 1, now);
  const isCurrent = ({ key }: T) => (key ?? "") >= first;
  return { current: buckets.filter(isCurrent), previous: buckets.filter((bucket) => !isCurrent(bucket)) };
}

/** "12 % more", or "5 % less"; undefined where there is nothing to compare with. */
export function formatChange(value: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round((value / before - 1) * 100);
  if (percent === 0) return "as before";
  return percent > 0 ? `${percent} % more` : `${-percent} % less`;
}

/** Round values for the lines of a chart, from 0 to the first one that is not below `most`. */
export function toTicks(most: number, isWhole: boolean): number[] {
  const rough = Math.max(most, isWhole ? 1 : 0.01) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const size = isWhole ? Math.max(1, Math.round(step)) : step;
  const count = Math.max(1, Math.ceil(most / size - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => index * size);
}

/** What a month will have cost at its end if it goes on like this. Undefined on its first day, which tells too little. */
export function projectMonth(spentUsd: number, renewsAt: string, now: number): number | undefined {
  const end = new Date(renewsAt);
  const start = Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  if (now - start < DAY_MS) return undefined;
  return (spentUsd / (now - start)) * (end.getTime() - start);
}
