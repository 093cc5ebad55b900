import * as v from "valibot";

/** What a message shows of a delivery. */
const Delivered = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    type: v.string(),
    data: v.object({
      title: v.optional(v.string(), ""),
      session_link: v.optional(v.string(), ""),
      event: v.optional(v.object({ reason: v.optional(v.string(), ""), paused: v.optional(v.boolean(), false) }), {}),
    }),
  }),
);

/** Characters of a title or a reason. */
const MAX_TEXT = 1_000;

/**
 * The body of a delivery as a message for Slack's incoming webhooks, which other chats understand too.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function toSlackMessage(body: string): string {
  const { type, data } = v.parse(Delivered, body);
  const { title, session_link: link, event } = data;
  const words = type.replaceAll("_", " ");
  const what = `*${words.charAt(0).toUpperCase()}${words.slice(1)}*${event.paused ? " (paused)" : ""}`;
  const lines = [
    title === "" ? what : `${what}: ${toPlainText(title)}`,
    ...(event.reason === "" ? [] : [toPlainText(event.reason)]),
    ...(/^https?:\/\/[^\s<>|]+$/.test(link) ? [`<${link}|Open the run>`] : []),
  ];
  return JSON.stringify({ text: lines.join("\n"), unfurl_links: false });
}

/** Escapes the text of people and agents, so that it contains no mentions and no links. */
const toPlainText = (text: string): string =>
  text
    .slice(0, MAX_TEXT)
    .replace(/[\ud800-\udbff]$/, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
