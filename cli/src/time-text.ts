/**
 * Formats a time for people: `2026-05-18 19:00:00Z`, in other zones `2026-05-18 21:00:00+02:00`, which options for times
 * accept.
 * @param zone name of the time zone @default that of this machine
 */
export function timeText(time: string, zone: string | undefined): string {
  const at = new Date(time);
  // The text of a service that has other times is shown as it is.
  if (Number.isNaN(at.getTime())) return time;
  const parts = Object.fromEntries(
    formatFor(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second, timeZoneName: offset = "" } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}${offset.replace("GMT", "").replace("+00:00", "") || "Z"}`;
}

const formatFor = (zone: string | undefined): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
  });
