const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Merges settings into others, deeply; lists are replaced. */
export function merge(target, source) {
  for (const name in source) {
    if (isObject(source[name]) && isObject(target[name])) merge(target[name], source[name]);
    else target[name] = source[name];
  }
  return target;
}
