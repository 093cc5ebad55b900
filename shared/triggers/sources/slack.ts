import { ANSWER_BLOCK, ANSWER_FIELD, BUTTONS } from "../systems/slack-blocks.ts";
import { firstText, readMember, readText } from "./member.ts";
import type { Press, Source, Standing } from "./source.ts";

/** https://docs.slack.dev/apis/events-api and https://docs.slack.dev/interactivity */
export const slack: Source = {
  runSource: "SLACK",

  read(payload) {
    const { event, team, channel } = readMessage(payload);
    const timestamp = firstText(readText(event, "thread_ts"), readText(event, "ts"), readPressedThread(payload));
    const user = firstText(readText(event, "user"), readText(payload, "user", "id"));
    return {
      type: readText(event, "type"),
      action: firstText(readText(event, "subtype"), readText(event, "channel_type")),
      text: firstText(
        readText(event, "text"),
        readText(payload, "state", "values", ANSWER_BLOCK, ANSWER_FIELD, "value"),
      ),
      author: { id: user, name: user, kind: readMember(event, "bot_id") === undefined ? "person" : "bot" },
      repository: "",
      thread: channel === "" || timestamp === "" ? "" : `${team}/${channel}/${timestamp}`,
    };
  },

  identify(payload) {
    const { event, team, channel } = readMessage(payload);
    const [timestamp, id] = [readText(event, "ts"), readText(payload, "event_id")];
    // An interaction has no event id.
    const press = readText(payload, "trigger_id");
    if (isInteraction(payload) && press !== "") return { id: `${team}/${press}`, isSigned: true };
    // A mention comes twice: as a message, and as a mention.
    if (channel !== "" && timestamp !== "") return { id: `${team}/${channel}/${timestamp}`, isSigned: true };
    return { ...(id === "" ? {} : { id }), isSigned: true };
  },

  judge({ author, payload }): Standing {
    const { event, team } = readMessage(payload);
    if (author.kind === "bot") return "bot";
    // Such as the change of a message, which does not say who made it.
    if (readMember(event, "subtype") !== undefined || author.id === "") return "refused";
    const isOfTeam = [
      readText(event, "user_team"),
      readText(event, "team"),
      readText(payload, "user", "team_id"),
    ].every((one) => one === "" || one === team);
    const isShared = readMember(payload, "is_ext_shared_channel") !== false;
    return isOfTeam && !isShared ? "trusted" : "unknown";
  },

  toPlaces({ payload }) {
    const { event, channel: container } = readMessage(payload);
    const isPublic = readMember(payload, "is_ext_shared_channel") !== false;
    const time = firstText(readText(event, "ts"), readText(event, "message", "ts"));
    const item = firstText(readText(event, "thread_ts"), readText(event, "message", "thread_ts"), time);
    if (container === "" || item === "") return { isPublic };
    return { thread: { container, item }, message: { container, item: time }, isPublic };
  },

  toPress({ payload }) {
    if (!isInteraction(payload)) return undefined;
    const name = readText(payload, "actions", 0, "action_id");
    const action = ACTIONS.find((one) => BUTTONS[one] === name);
    return action && { action, runId: readText(payload, "actions", 0, "value") };
  },

  /** Events of the app's own messages name the app twice, and those of its reactions its user, for which Slack sends them. */
  isOwn({ author, payload }) {
    const app = readText(payload, "api_app_id");
    const isOfApp = app !== "" && readText(readMember(payload, "event"), "app_id") === app;
    const [recipient, isBot] = ["user_id", "is_bot"].map((name) => readMember(payload, "authorizations", 0, name));
    return isOfApp || (isBot === true && author.id !== "" && recipient === author.id);
  },

  toAccount: ({ author, payload }) => ({ place: readMessage(payload).team, account: author.id }),
};

const ACTIONS: readonly Press["action"][] = ["answer", "stop", "open"];
/** Whether somebody has pressed a button of a message: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
const isInteraction = (payload: unknown): boolean => readText(payload, "type") === "block_actions";
/** The time of the message that began the thread of a pressed button. */
const readPressedThread = (payload: unknown): string =>
  isInteraction(payload)
    ? firstText(readText(payload, "message", "thread_ts"), readText(payload, "message", "ts"))
    : "";

/** The event of a callback, or an interaction, which is an event itself. */
function readMessage(payload: unknown): { readonly event: unknown; readonly team: string; readonly channel: string } {
  const event = readMember(payload, "event") ?? payload;
  return {
    event,
    team: firstText(readText(payload, "team_id"), readText(payload, "team", "id")),
    channel: firstText(
      readText(event, "channel"),
      readText(event, "channel", "id"),
      readText(event, "item", "channel"),
    ),
  };
}
