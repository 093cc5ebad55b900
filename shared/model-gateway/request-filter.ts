import { invalid } from "#shared/errors.ts";

/** What filtering a request records. */
export interface FilterNotes {
  /** Members that were dropped, with `[]` for each position of a list. */
  readonly dropped: Set<string>;
  /** Images whose data the request brings along, and the characters of that data. */
  images: number;
  imageCharacters: number;
  /** Tools whose definition the provider adds to the prompt. */
  providerTools: number;
}

/** Returns what is kept of a value; `undefined` drops it. Throws if the request must be refused. */
export type Filter = (value: unknown, path: string, notes: FilterNotes) => unknown;

export const newNotes = (): FilterNotes => ({ dropped: new Set(), images: 0, imageCharacters: 0, providerTools: 0 });

/** Keeps any value, since its size limits its cost. */
export const anything: Filter = (value) => value;

/** Keeps the value if it is one of these, and drops it otherwise. */
export const allowValues =
  (...values: readonly unknown[]): Filter =>
  (value) =>
    values.includes(value) ? value : undefined;

/** Refuses the value with a reason. */
export const refused =
  (reason: string): Filter =>
  (_, path) => {
    throw invalid(path, reason);
  };

/** Keeps these members of an object and drops all others. */
export const members =
  (filters: Readonly<Record<string, Filter>>): Filter =>
  (value, path, notes) => {
    if (!isObject(value)) throw invalid(path, "must be an object");
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
        const at = path === "" ? name : `${path}.${name}`;
        const filtered = filter === undefined || member === undefined ? undefined : filter(member, at, notes);
        if (filtered === undefined) noteDropped(notes, at);
        return filtered === undefined ? [] : [[name, filtered]];
      }),
    );
  };

/** Filters each item of a list. */
export const list =
  (filter: Filter): Filter =>
  (value, path, notes) => {
    if (!Array.isArray(value)) throw invalid(path, "must be a list");
    return value.flatMap((item: unknown, index) => {
      const filtered = filter(item, `${path}[${index}]`, notes);
      return filtered === undefined ? [] : [filtered];
    });
  };

/** Keeps a text or null, and filters any other value. */
export const textOr =
  (filter: Filter): Filter =>
  (value, path, notes) =>
    typeof value === "string" || value === null ? value : filter(value, path, notes);

/** Filters an object by its `type`; `absent` is the type of an object without one. */
export const byType =
  (filters: Readonly<Record<string, Filter>>, absent?: string): Filter =>
  (value, path, notes) => {
    if (!isObject(value)) throw invalid(path, "must be an object");
    const type = value["type"] ?? absent;
    const filter = typeof type === "string" && Object.hasOwn(filters, type) ? filters[type] : undefined;
    if (filter === undefined) {
      throw invalid(path, `a part of type ${shortName(type)} has no known price and needs a run without a budget`);
    }
    return filter(value, path, notes);
  };

/** Tools that the caller executes; all others would be executed, and billed, by the provider, and are dropped. */
export const clientTools = (filterOf: (type: unknown) => Filter | undefined): Filter =>
  list((value, path, notes) => {
    if (!isObject(value)) throw invalid(path, "must be an object");
    const filter = filterOf(value["type"]);
    if (filter !== undefined) return filter(value, path, notes);
    noteDropped(notes, `${path}(${shortName(value["type"])})`);
    return undefined;
  });

const CHOICES = new Set(["auto", "any", "none", "tool", "function", "custom", "allowed_tools"]);

/** Which tool the model must use: one that the provider would execute cannot be chosen. */
export const choice: Filter = (value) =>
  isObject(value) && typeof value["type"] === "string" && !CHOICES.has(value["type"]) ? undefined : value;

/** A tool whose definition the provider writes itself. */
export const providerDefined =
  (filter: Filter): Filter =>
  (value, path, notes) => {
    notes.providerTools += 1;
    return filter(value, path, notes);
  };

export function noteDropped(notes: FilterNotes, path: string): void {
  notes.dropped.add(path.replace(/\[\d+\]/g, "[]"));
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shortName = (type: unknown): string => JSON.stringify(type ?? null).slice(0, 60);
