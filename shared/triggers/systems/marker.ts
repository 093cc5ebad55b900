const MARKER = /<!-- runyard:[A-Za-z0-9_-]{16,64} -->\s*$/;

/** The hidden end of each reply, by which the service recognizes its own comments. */
export const toMarker = (nonce: string): string => `<!-- runyard:${nonce} -->`;

/** The beginning of the name of each commit status that the service sets. */
export const STATUS_PREFIX = "runyard/";

/** Whether a text is a reply of this service. */
export const isMarked = (text: string): boolean => MARKER.test(text);

/**
 * Blocks and spans that every reader of Markdown takes for code: a closed block at the margin, with no more than the name of a language,
 * and a span of plain characters between spaces and punctuation.
 */
const CODE =
  /^(?<fence>(?<mark>[`~])\k<mark>{2,})[\w+#.-]*[ \t]*\n(?:(?! {0,3}\k<fence>\k<mark>*[ \t]*$).*\n)* {0,3}\k<fence>\k<mark>*[ \t]*$|(?<=^|[ (])`[^`\r\n|$<>\\]+`(?=[ ).,:;!?]|$)/
    .source;

/** What outside of code makes it uncertain what is code: other backticks and fences, formulas, HTML, quotations and front matter of GitLab. */
const UNCERTAIN = /[`$\r\u2028\u2029]|~~~|<(?!!--)[a-z!?/]|\n[ \t]*>>>|^\s*(?:>>>|---|\+\+\+|;;;)/i;

/** What begins a mention or a comment, and its inert replacement. A character reference can be the `@` of a mention. */
const MARKS = /@(?=\S)|<!--|&(?=#|commat;)/.source;
const INERT: ReadonlyMap<string, string> = new Map([
  ["@", "@\u200b"],
  ["<!--", "&lt;!--"],
  ["&", "&\u200b"],
]);

/**
 * The Markdown of an agent without what other programs act on: mentions of people and bots, commands at the beginning of a line, and
 * comments. Outsiders can make an agent write them, and the reply is posted with the rights of the team's token. Code stays as it is
 * where it is certain what is code.
 */
export function toSafeMarkdown(text: string): string {
  const isCertain = !UNCERTAIN.test(text.replace(new RegExp(CODE, "gm"), " "));
  const marks = new RegExp(isCertain ? `${CODE}|${MARKS}` : MARKS, "gm");
  return text.replace(marks, (found) => INERT.get(found) ?? found).replace(/^([ \t>]*)\/(?=\w)/gm, "$1\\/");
}

/** Text of an agent without the mentions, links and commands that Slack knows. */
export const toSafeSlackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
