const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The possible distances between the marks of an axis, in milliseconds: round numbers of a unit. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[SECOND, MINUTE].flatMap((unit) => [1, 2, 5, 10, 20, 30].map((count) => count * unit)),
  ...[1, 2, 4, 8, 12].map((count) => count * HOUR),
];
const MAX_MARKS = 6;

interface AxisMark {
  /** The place of the mark on the axis, from 0 to 1. */
  readonly place: number;
  readonly text: string;
}

/** The marks of an axis that begins at 0, at round times. */
export function toAxis(length: number): readonly AxisMark[] {
  const step = STEPS.find((one) => length / one <= MAX_MARKS) ?? DAY * Math.ceil(length / DAY / MAX_MARKS);
  const marks = Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
  return marks.map((time) => ({ place: time / length, text: formatMark(time) }));
}

const UNITS = [
  ["d", DAY],
  ["h", HOUR],
  ["min", MINUTE],
  ["s", SECOND],
  ["ms", 1],
] as const;

/** "0", "20 s", "1 min 30 s". */
function formatMark(time: number): string {
  let rest = time;
  const parts = UNITS.map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest %= size;
    return count > 0 ? `${count} ${name}` : "";
  });
  return parts.filter(Boolean).join(" ") || "0";
}
