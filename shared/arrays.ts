/** Sorts items by a text of each, of which no two are equal, in the order of their UTF-16 units. */
export function sortByText<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

/** Splits items into batches of `size`, in their order. The last one has what is left. */
export function splitIntoBatches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
