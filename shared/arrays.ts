/** Sorts items by a text of each, in the order of their UTF-16 units. Items with equal texts stay in their order. */
export function sortByText<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items.toSorted((one, other) => {
    const [a, b] = [textOf(one), textOf(other)];
    return Number(a > b) - Number(a < b);
  });
}

/** Splits items into batches of `size`, in their order. The last one has what is left. */
export function splitIntoBatches<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
