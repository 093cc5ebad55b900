import { firstText, readMember, readText } from "./member.ts";
import type { Source, Standing } from "./source.ts";

/** https://docs.slack.dev/apis/events-api and https://docs.slack.dev/interactivity */
export const slack: Source = {
  runSource: "SLACK",

  read(payload) {
    const { event, team, channel } = readMessage(payload);
    const timestamp = firstText(readText(event, "thread_ts"), readText(event, "ts"));
    const user = firstText(readText(event, "user"), readText(payload, "user", "id"));
    return {
      type: readText(event, "type"),
      action: firstText(readText(event, "subtype"), readText(event, "channel_type")),
      text: readText(event, "text"),
      author: { id: user, name: user, kind: readMember(event, "bot_id") === undefined ? "person" : "bot" },
      repository: "",
      thread: channel === "" || timestamp === "" ? "" : `${team}/${channel}/${timestamp}`,
    };
  },

  identify(payload) {
    const { event, team, channel } = readMessage(payload);
    const [timestamp, id] = [readText(event, "ts"), readText(payload, "event_id")];
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

  /** Events of the app's own messages name the app twice, and those of its reactions its user, for which Slack sends them. */
  isOwn({ author, payload }) {
    const app = readText(payload, "api_app_id");
    const isOfApp = app !== "" && readText(readMember(payload, "event"), "app_id") === app;
    const [recipient, isBot] = ["user_id", "is_bot"].map((name) => readMember(payload, "authorizations", 0, name));
    return isOfApp || (isBot === true && author.id !== "" && recipient === author.id);
  },

  toAccount: ({ author, payload }) => ({ place: readMessage(payload).team, account: author.id }),
};

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
