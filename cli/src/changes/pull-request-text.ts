import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { oneLine, printable } from "../terminal-text.ts";
import { describeChanges, type GitChanges } from "./changes.ts";

const MAX_TEXT = 30_000;
const MAX_TITLE = 200;
/** Invisible characters, and those that change the direction of the text around them. */
const HIDDEN = /\p{Cf}/gu;
/**
 * What GitHub links in titles and commit messages, where nothing can be quoted: mentions, issues (`#1`, `GH-1`) and addresses. A commit
 * message with "Closes #1" closes the issue.
 */
const REFERENCE = /@(?=[\p{L}\p{N}])|#(?=\d)|\bGH-(?=\d)|:\/\/(?=\S)/giu;

/**
 * The default title of a pull request, which is that of the run: an event of another system or another agent may have written it. It
 * is one line, and a space after the mark of each reference keeps GitHub from following it.
 */
export function formatTitle({ title, run_id }: Pick<RunItem, "title" | "run_id">): string {
  const line = toLine(title).replace(REFERENCE, "$& ").trim();
  return [...line].slice(0, MAX_TITLE).join("") || `Changes of the run ${run_id}`;
}

/**
 * The default text of a pull request. The final message and the name of the branch are quoted as code: an agent that read hostile text
 * may mention people, close issues or show an image from elsewhere.
 */
export function formatBody(run: RunItem, { branch, ...git }: GitChanges, message: string): string {
  const quote = quoteText(message);
  const onBranch = branch === undefined ? "" : `, branch ${toCodeSpan(branch)}`;
  const summary = `Changes of the run ${formatRunLink(run)}: ${describeChanges(git)}${onBranch}.`;
  return quote === "" ? summary : `${summary}\n\n${quote}`;
}

/** Links to the page of a run, or names the run where there is no web app. */
export const formatRunLink = ({ run_id, session_link }: RunItem): string =>
  session_link === undefined ? `\`${run_id}\`` : `[${run_id}](${session_link})`;

/** Quotes a text as a block of code in Markdown, cut to what a comment has room for; an empty text stays empty. */
export function quoteText(text: string): string {
  const quote = printable(text.trim().slice(0, MAX_TEXT).toWellFormed()).replace(HIDDEN, "");
  const fence = "`".repeat(Math.max(2, longestTicks(quote)) + 1);
  return quote === "" ? "" : `${fence}text\n${quote}\n${fence}`;
}

/** Quotes a line as code in Markdown. The spaces inside are not shown, and allow backticks at both ends. */
function toCodeSpan(text: string): string {
  const line = toLine(text).slice(0, MAX_TITLE);
  const ticks = "`".repeat(longestTicks(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

const toLine = (text: string): string => oneLine(text.toWellFormed()).replace(HIDDEN, "").replace(/\s+/g, " ");

const longestTicks = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((longest, [ticks]) => Math.max(longest, ticks.length), 0);
