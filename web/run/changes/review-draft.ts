import * as v from "valibot";

/** A comment on a line of a change, which has not been sent. */
const ReviewComment = v.object({
  /** The repository's path in the workspace. */
  repository: v.string(),
  path: v.string(),
  /** The number of the line after the change, or before it where the line was removed. */
  line: v.number(),
  isRemoved: v.boolean(),
  /** The line itself. */
  code: v.string(),
  text: v.string(),
});
export type ReviewComment = v.InferOutput<typeof ReviewComment>;
export const ReviewComments = v.array(ReviewComment);

export type LinePlace = Pick<ReviewComment, "path" | "line" | "isRemoved">;

/** Whether a comment is on the line. */
export const isAt = (comment: LinePlace, { path, line, isRemoved }: LinePlace): boolean =>
  comment.path === path && comment.line === line && comment.isRemoved === isRemoved;

/** Characters of a line that the follow-up quotes. */
const MAX_QUOTE = 300;

/** All comments as one follow-up, by file and line. */
export function toReviewMessage(comments: readonly ReviewComment[]): string {
  const sorted = comments.toSorted(
    (one, other) => compare(one.repository, other.repository) || compare(one.path, other.path) || one.line - other.line,
  );
  const parts = sorted.map(({ repository, path, line, isRemoved, code, text }, index) => {
    const place = `${quote(repository === "." ? path : `${repository}/${path}`)}, line ${line}${isRemoved ? " before the change" : ""}`;
    return `${index + 1}. ${place}:\n\n   ${quote(` ${code.slice(0, MAX_QUOTE).trim()} `)}\n\n   ${text.trim().replaceAll("\n", "\n   ")}`;
  });
  return `Comments on your changes:\n\n${parts.join("\n\n")}`;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Text of the agent as code, between more backticks than are in it, and on one line: it must not become text of the person who
 * sends the comments, or a command. Paths may contain line breaks, and lines may contain carriage returns.
 */
function quote(text: string): string {
  const line = text.replace(/[\r\n\u2028\u2029]+/g, " ");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  // A backtick at an end of the text would be one of the marks.
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}
