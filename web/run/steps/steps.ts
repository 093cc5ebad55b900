import { actionTitle, asJson, outputText } from "../action-text.ts";
import type { ActionEntry, Entry } from "../feed.ts";
import { isError } from "../outcome/outcome.ts";

/** Several reads in a row, which are shown as one step. */
export interface ReadsStep {
  readonly kind: "reads";
  /** That of the first read. */
  readonly key: string;
  readonly reads: readonly ActionEntry[];
}
export type Step = Entry | ReadsStep;

/** Fewer reads in a row stay as they are. */
const MIN_READS = 3;
const READS: ReadonlySet<string> = new Set(["read_files", "search_files", "list_files", "read_file", "glob", "grep"]);

const isRead = (entry: Entry): entry is ActionEntry =>
  entry.kind === "action" && entry.state === "completed" && READS.has(entry.name);

/** Puts reads in a row together. A step keeps its key while reads are added to it. */
export function foldReads(entries: readonly Entry[]): readonly Step[] {
  const steps: Step[] = [];
  for (let index = 0; index < entries.length; ) {
    const reads = readsFrom(entries, index);
    const [first] = reads;
    const entry = entries[index];
    if (first !== undefined && reads.length >= MIN_READS) {
      steps.push({ kind: "reads", key: first.key, reads });
      index += reads.length;
    } else if (entry !== undefined) {
      steps.push(entry);
      index += 1;
    }
  }
  return steps;
}

function readsFrom(entries: readonly Entry[], start: number): ActionEntry[] {
  const reads: ActionEntry[] = [];
  for (let index = start; ; index++) {
    const entry = entries[index];
    if (entry === undefined || !isRead(entry)) return reads;
    reads.push(entry);
  }
}

/** Whether the step is the entry, or contains it. */
export const hasKey = (step: Step, key: string): boolean =>
  step.kind === "reads" ? step.reads.some((read) => read.key === key) : step.key === key;

export interface StepFilter {
  /** What the steps contain, in any case; empty for all. */
  readonly text: string;
  readonly onlyErrors: boolean;
}

/** Shows each step. */
export const ALL_STEPS: StepFilter = { text: "", onlyErrors: false };

export function filterEntries(entries: readonly Entry[], { text, onlyErrors }: StepFilter): readonly Entry[] {
  const query = text.trim().toLowerCase();
  if (query === "" && !onlyErrors) return entries;
  return entries.filter((entry) => (!onlyErrors || isError(entry)) && searchText(entry).includes(query));
}

const texts = new WeakMap<Entry, string>();

/** All that an entry shows, in lower case. Entries are replaced when they change, so that each is read once. */
function searchText(entry: Entry): string {
  const text = texts.get(entry) ?? readableText(entry).toLowerCase();
  texts.set(entry, text);
  return text;
}

function readableText(entry: Entry): string {
  if (entry.kind === "text") return entry.text;
  if (entry.kind === "mark") return `${entry.type.replaceAll("_", " ")} ${asJson(entry.data)}`;
  const { summary = "", diff = "", input, output, live } = entry;
  return [actionTitle(entry).text, summary, asJson(input), diff, outputText(output), live].join("\n");
}

/** The next error after the entry that the address names, or before it, around the end. Without such an entry, the last error. */
export function nextError(entries: readonly Entry[], current: string, by: 1 | -1): Entry | undefined {
  const start = entries.findIndex(({ key }) => key === current);
  if (start < 0) return entries.findLast(isError);
  return by > 0
    ? (entries.slice(start + 1).find(isError) ?? entries.find(isError))
    : (entries.slice(0, start).findLast(isError) ?? entries.findLast(isError));
}
