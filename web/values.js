/**
 * A member of a value that may be anything; undefined where there is none.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
export function memberOf(value, name) {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

/**
 * The same, where it is a text that says something.
 *
 * @param {unknown} value
 * @param {string} name
 */
export function textOf(value, name) {
  const member = memberOf(value, name);
  return typeof member === "string" && member !== "" ? member : undefined;
}
