import * as v from "valibot";

// What JSON Schema cannot read off a check stands beside it as metadata, for the OpenAPI document.

/** A string of at most `limit` code points. */
export const text = (limit: number, least = 0) =>
  v.pipe(
    v.string(),
    v.check((value) => codePoints(value) >= least, `must have at least ${least} characters`),
    v.check((value) => codePoints(value) <= limit, `must have at most ${limit} characters`),
    v.metadata({ ...(least > 0 ? { minLength: least } : {}), maxLength: limit }),
  );

/** A string of at most `limit` bytes in UTF-8. */
export const textOfBytes = (limit: number, least = 0) =>
  v.pipe(
    v.string(),
    v.check((value) => value.length >= least, `must not be shorter than ${least}`),
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

/** RFC 3339 with an offset, up to nanoseconds, as input; answers always carry UTC with milliseconds. */
export const Timestamp = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/,
    "must be an RFC 3339 timestamp such as 2026-05-18T19:00:00.000Z",
  ),
  v.check((value) => !Number.isNaN(Date.parse(value)) && isDay(value.slice(0, 10)), "must be a date that exists"),
  v.metadata({ format: "date-time", description: "RFC 3339 with an offset." }),
);

/** An address that people may be led to: https, without a user's name or a password in it. */
export const HttpsUrl = v.pipe(
  textOfBytes(2048, 1),
  v.regex(/^https:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/, "must be an https URL without credentials"),
);

/** Milliseconds since the epoch as the wire shows them. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A boolean of a query string. */
export const Flag = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((value) => value === "true"),
);

export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  // What is no day at all is none that exists: this is asked too where the form is already known to be wrong.
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
