/** Something that the palette finds by its words. */
export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  /** What the item is, at the end of its line. */
  readonly note: string;
  /** Words that find the item besides those that it shows. */
  readonly words?: string;
  readonly perform: () => void;
}

/** The items that have all words of a text. Those whose label begins with it come first. */
export function findItems(items: readonly PaletteItem[], text: string): PaletteItem[] {
  const query = text.toLowerCase().trim();
  const words = query.split(/\s+/);
  const found = items.filter(({ label, note, words: more = "" }) => {
    const known = `${label} ${note} ${more}`.toLowerCase();
    return words.every((word) => known.includes(word));
  });
  const isFirst = ({ label }: PaletteItem) => label.toLowerCase().startsWith(query);
  return [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))];
}
