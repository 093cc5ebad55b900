import * as v from "valibot";

/** The buttons of a message about a run. */
export const ReplyButtons = v.object({
  run_id: v.string(),
  /** The run waits for an answer. */
  asks: v.exactOptional(v.literal(true)),
  /** The run can be stopped. */
  stops: v.exactOptional(v.literal(true)),
  /** The address of the run's page. */
  url: v.exactOptional(v.string()),
});
export type ReplyButtons = v.InferOutput<typeof ReplyButtons>;

/** The names by which a pressed button is recognized; the block and the field of an answer. */
export const BUTTONS = { answer: "runyard_answer", stop: "runyard_stop", open: "runyard_open" } as const;
export const ANSWER_BLOCK = "runyard_answer_text";
export const ANSWER_FIELD = "text";

/** Characters of a section, and of an answer. */
const MAX_SECTION = 3_000;

const plain = (text: string) => ({ type: "plain_text", text });
const button = (action_id: string, text: string, value: string, more: object = {}) => ({
  type: "button",
  action_id,
  text: plain(text),
  value,
  ...more,
});

/**
 * Lays out a message with its buttons. Its text is also sent without blocks, for notifications.
 * @see https://docs.slack.dev/reference/block-kit/blocks
 */
export function toBlocks(text: string, { run_id, asks, stops, url }: ReplyButtons): readonly object[] {
  const elements = [
    ...(asks === true ? [button(BUTTONS.answer, "Answer", run_id, { style: "primary" })] : []),
    ...(stops === true ? [button(BUTTONS.stop, "Stop", run_id, { style: "danger" })] : []),
    ...(url === undefined ? [] : [button(BUTTONS.open, "Open the run", run_id, { url })]),
  ];
  const input = {
    type: "input",
    block_id: ANSWER_BLOCK,
    optional: true,
    label: plain("Answer"),
    element: { type: "plain_text_input", action_id: ANSWER_FIELD, multiline: true, max_length: MAX_SECTION },
  };
  return [
    ...splitText(text).map((part) => ({ type: "section", text: { type: "mrkdwn", text: part } })),
    ...(asks === true ? [input] : []),
    ...(elements.length === 0 ? [] : [{ type: "actions", elements }]),
  ];
}

/** Splits a text into sections, not within a character. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const part = rest.slice(0, MAX_SECTION).replace(/[\ud800-\udbff]$/, "");
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}
