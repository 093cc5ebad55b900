const MARKER = /<!-- runyard:[A-Za-z0-9_-]{16,64} -->\s*$/;

/** What ends the text of each reply, and is not displayed: by it the service recognizes its own comments. */
export const toMarker = (nonce: string): string => `<!-- runyard:${nonce} -->`;

/** Whether a text is a reply of this service. */
export const isMarked = (text: string): boolean => MARKER.test(text);

const CODE = /(```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`)/;

/**
 * The Markdown of an agent without what other programs obey: mentions of people and bots, commands at the beginning of a line, and
 * comments. Outsiders can have an agent write them, and the reply is written with the rights of the team's token.
 */
export const toSafeMarkdown = (text: string): string =>
  text
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<!--", "&lt;!--").replace(/@(?=\w)/g, "@\u200b")))
    .join("")
    .replace(/^([ \t>]*)\/(?=\w)/gm, "$1\\/");

/** Text of an agent without the mentions, links and commands that Slack knows. */
export const toSafeSlackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
