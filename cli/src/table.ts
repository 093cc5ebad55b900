import type { Page, PageBody, PagePromise } from "../../clients/typescript/src/index.ts";
import type { Context } from "./context.ts";
import { clip } from "./style.ts";
import { oneLine, printable } from "./terminal-text.ts";

/** A column of a table. */
export interface Column<Item> {
  readonly name: string;
  readonly of: (item: Item) => string | number | boolean | null | undefined;
  /** Colours the padded text of a cell. */
  readonly paint?: (text: string, item: Item) => string;
}

/** Prints a page of a list, or with `all` every page as it arrives: as a table, one JSON document, or with `all` as JSON Lines. */
export async function printList<Item, Body extends PageBody>(
  context: Context,
  first: PagePromise<Item, Body>,
  columns: readonly Column<Item>[],
  { all = false, none }: { all?: boolean | undefined; none: string },
): Promise<void> {
  const page = await first;
  if (all) return printAll(context, page, columns, none);
  if (context.json) return context.printJson(page.body);
  if (page.data.length === 0) context.note(none);
  else printRows(context, page.data, columns);
  if (page.hasNextPage()) context.note(context.errStyle.dim("There are more: use --all to list them."));
}

async function printAll<Item, Body extends PageBody>(
  context: Context,
  first: Page<Item, Body>,
  columns: readonly Column<Item>[],
  none: string,
): Promise<void> {
  let widths: readonly number[] | undefined;
  for await (const page of first.iterPages()) {
    if (context.json) for (const item of page.data) context.printJsonLine(item);
    else if (page.data.length > 0) widths = printRows(context, page.data, columns, widths);
  }
  if (!context.json && widths === undefined) context.note(none);
}

/** Prints a table, with its header unless the widths of an earlier part are given, and returns its widths. */
export function printRows<Item>(
  context: Context,
  items: readonly Item[],
  columns: readonly Column<Item>[],
  earlier?: readonly number[],
): readonly number[] {
  const cells = items.map((item) => columns.map((column) => cellText(column.of(item))));
  const widths = columns.map(({ name }, at) =>
    Math.max(earlier?.[at] ?? name.length, ...cells.map((row) => row[at]?.length ?? 0)),
  );
  if (earlier === undefined)
    context.say(
      context.style.dim(
        line(
          columns.map(({ name }) => name.toUpperCase()),
          widths,
        ),
      ),
    );
  items.forEach((item, row) => {
    const texts = truncateLast(cells[row] ?? [], widths, context.shell);
    context.say(line(texts, widths, (text, at) => columns[at]?.paint?.(text, item) ?? text));
  });
  return widths;
}

const GAP = "  ";

function line(
  texts: readonly string[],
  widths: readonly number[],
  paint = (text: string, _at: number) => text,
): string {
  return texts
    .map((text, at) => paint(at === texts.length - 1 ? text : text.padEnd(widths[at] ?? 0), at))
    .join(GAP)
    .trimEnd();
}

/** Truncates the last cell on a terminal, so that each row is one line. */
function truncateLast(texts: readonly string[], widths: readonly number[], shell: Context["shell"]): readonly string[] {
  const last = texts.at(-1);
  if (!shell.outIsTerminal || last === undefined) return texts;
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  return [...texts.slice(0, -1), clip(last, Math.max(10, shell.columns - before))];
}

function cellText(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return oneLine(String(value));
}

/** Prints the fields of a resource, one per line, without undefined ones. */
export function printFields(
  context: Context,
  fields: readonly (readonly [name: string, value: string | number | boolean | null | undefined])[],
): void {
  const present = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  for (const [name, value] of present) {
    const text =
      typeof value === "string" ? printable(value).replaceAll("\n", `\n${" ".repeat(width + 2)}`) : cellText(value);
    context.sayText(`${context.style.dim(name.padEnd(width))}  ${text === "" ? "-" : text}`);
  }
}
