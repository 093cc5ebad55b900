import * as v from "valibot";

// JSON Schema cannot express a check, so metadata next to it states the limits for the OpenAPI document.

const tooShort = (least: number): string =>
  least === 1 ? "must not be empty" : `must have at least ${least} characters`;

/** A string of at most `limit` code points. */
export const text = (limit: number, least = 0) =>
  v.pipe(
    v.string(),
    v.check((value) => codePoints(value) >= least, tooShort(least)),
    v.check((value) => codePoints(value) <= limit, `must have at most ${limit} characters`),
    v.metadata({ ...(least > 0 ? { minLength: least } : {}), maxLength: limit }),
  );

/** A string of at most `limit` bytes in UTF-8. */
export const textOfBytes = (limit: number, least = 0) =>
  v.pipe(
    v.string(),
    v.check((value) => value.length >= least, tooShort(least)),
    v.check((value) => Buffer.byteLength(value) <= limit, `must have at most ${limit} bytes`),
    v.metadata({
      ...(least > 0 ? { minLength: least } : {}),
      maxLength: limit,
      description: `At most ${limit} bytes in UTF-8.`,
    }),
  );

/** An opaque identifier as callers send it. */
export const Id = textOfBytes(512, 1);

export const Name = text(256, 1);

/** A time in requests: RFC 3339 with an offset, up to nanoseconds. Responses always have UTC with milliseconds. */
export const Timestamp = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/,
    "must be an RFC 3339 timestamp such as 2026-05-18T19:00:00.000Z",
  ),
  v.check(
    (value) => !Number.isNaN(Date.parse(value)) && isDay(value.slice(0, 10)),
    "must be an existing date and time",
  ),
  v.metadata({ format: "date-time", description: "RFC 3339 with an offset." }),
);

/** A URL that is shown to people: https, without user name or password. */
export const HttpsUrl = v.pipe(
  textOfBytes(2048, 1),
  v.regex(/^https:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/, "must be an https URL without credentials"),
);

/** Formats milliseconds since the epoch for responses. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A boolean of a query string. */
export const Flag = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((value) => value === "true"),
);

/** An amount of US dollars, at most `most`, with at most four decimals. */
export const usdUpTo = (most: number) =>
  v.pipe(
    v.number(),
    v.minValue(0.0001),
    v.maxValue(most),
    v.check((usd) => Math.abs(usd * 10_000 - Math.round(usd * 10_000)) < 1e-5, "must have at most 4 decimal places"),
    v.metadata({ multipleOf: 0.0001 }),
  );

/** A member of a request that may be absent or null, with the same meaning. */
export const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.exactOptional(v.nullable(schema));

export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const Positive = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A UTC day in a query string. */
export const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, "must be a day such as 2026-05-18"),
  v.check((value) => isDay(value), "must be an existing day"),
  v.metadata({ format: "date" }),
);

/** Whether a day exists: `Date.parse` reads the 30th of February as the 2nd of March. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  // This check also runs if the format is wrong, so the date may be invalid.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

function codePoints(value: string): number {
  let count = value.length;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/** A whole number in a query. */
export const wholeNumber = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,10}$/, "must be a whole number"),
    v.transform(Number),
    v.maxValue(most, `must be at most ${most}`),
  );
/** Seconds for which a response may be held back. */
export const WaitSeconds = wholeNumber(25);
