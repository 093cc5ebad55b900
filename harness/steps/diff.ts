import { formatPatch, OMIT_HEADERS, type StructuredPatchHunk, structuredPatch } from "diff";
import type { StepDiff } from "../engine/tool.ts";
import { cutBytes } from "../support/text-limits.ts";

/** A part of a file before and after a change. */
export interface Change {
  readonly path: string;
  /** The line of the file at which both texts start. */
  readonly startLine: number;
  /** Undefined if the file did not exist. */
  readonly before: string | undefined;
  /** Undefined if the file was deleted. */
  readonly after: string | undefined;
}

/** Ends the comparison of texts that are too different. */
const LIMITS = { timeout: 500 };
const CONTEXT_LINES = 3;
const DIFF_BYTES = 48 * 1024;
const TRUNCATED = "\n[... truncated ...]\n";

/** Computes a unified diff of these changes. Undefined if nothing changed or the texts are too different to compare. */
export function createDiff(changes: readonly Change[]): StepDiff | undefined {
  const parts = changes.flatMap((change) => {
    const patch = structuredPatch("", "", change.before ?? "", change.after ?? "", "", "", {
      context: CONTEXT_LINES,
      ...LIMITS,
    });
    return patch === undefined ? [] : [{ change, hunks: patch.hunks.map((hunk) => shift(hunk, change.startLine - 1)) }];
  });
  return joinDiffs(parts.map(({ change, hunks }) => ({ ...nameFiles(change), hunks })));
}

/** Computes the diff of a part of a file that is somewhere in it, so that its hunks have no line numbers. */
export function createSnippetDiff(path: string, before: string, after: string): StepDiff | undefined {
  const diff = createDiff([{ path, startLine: 1, before, after }]);
  return diff === undefined ? undefined : { ...diff, text: diff.text.replace(/^@@ .* @@$/gm, "@@") };
}

/** The hunks of one file. */
interface FileHunks {
  readonly oldName: string;
  readonly newName: string;
  readonly hunks: StructuredPatchHunk[];
}

/** Formats hunks that are known already as a unified diff. */
export const formatHunks = (path: string, hunks: readonly StructuredPatchHunk[]): StepDiff | undefined =>
  joinDiffs([{ oldName: `a/${path}`, newName: `b/${path}`, hunks: [...hunks] }]);

function joinDiffs(files: readonly FileHunks[]): StepDiff | undefined {
  const changed = files.filter(({ hunks }) => hunks.length > 0);
  if (changed.length === 0) return undefined;
  const lines = changed.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  const text = changed.map(formatFile).join("");
  const cut = cutBytes(text, DIFF_BYTES);
  return {
    text: cut.length < text.length ? cut + TRUNCATED : text,
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

function formatFile({ oldName, newName, hunks }: FileHunks): string {
  const patch = { oldFileName: "", newFileName: "", oldHeader: "", newHeader: "", index: "", hunks };
  // The library quotes no names, so they are written here.
  return `--- ${oldName}\n+++ ${newName}\n${formatPatch(patch, OMIT_HEADERS)}`;
}

const nameFiles = ({ path, before, after }: Change) => ({
  oldName: before === undefined ? "/dev/null" : `a/${path}`,
  newName: after === undefined ? "/dev/null" : `b/${path}`,
});

const shift = (hunk: StructuredPatchHunk, lines: number): StructuredPatchHunk => ({
  ...hunk,
  oldStart: hunk.oldStart + lines,
  newStart: hunk.newStart + lines,
});
