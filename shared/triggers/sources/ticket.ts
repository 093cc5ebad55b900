import type { TriggerEvent } from "#shared/wire/triggers/delivery.ts";
import type { SourceChoice } from "./find-source.ts";
import { readPullOfCi } from "./github.ts";
import { firstText, readMember, readText } from "./member.ts";

/** What people find the thread of an event by. */
interface Ticket {
  /** Where people read the thread. */
  readonly url?: string;
  /** The labels of the run that name it. */
  readonly labels: Readonly<Record<string, string>>;
}

/** "" where there is none. */
interface Reference {
  readonly url: string;
  /** The id by which people know it, such as `owner/name#12` or `SHOP-12`. */
  readonly id: string;
}

const MAX_URL_BYTES = 2048;
const MAX_ID_BYTES = 256;

/** Finds the issue, pull request, ticket or conversation of an event. What the sender writes is checked as any URL and label. */
export function findTicket({ kind, preset }: SourceChoice, { payload, repository }: TriggerEvent): Ticket {
  const source = preset ?? kind;
  const read = READERS[source];
  if (read === undefined) return { labels: {} };
  const { url, id } = read(payload, repository);
  const isLabel = id !== "" && Buffer.byteLength(id) <= MAX_ID_BYTES && id.isWellFormed() && !id.includes("\u0000");
  return {
    ...(isWebAddress(url) ? { url } : {}),
    labels: isLabel ? { ticket_id: id, ticket_source: source } : {},
  };
}

function isWebAddress(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !url.isWellFormed() || Buffer.byteLength(url) > MAX_URL_BYTES || /\s|\p{Cc}/u.test(url))
    return false;
  return ["https:", "http:"].includes(parsed.protocol) && parsed.username === "" && parsed.password === "";
}

type ReadReference = (payload: TriggerEvent["payload"], repository: string) => Reference;

const READERS: Readonly<Record<string, ReadReference>> = {
  github(payload, repository) {
    for (const name of ["issue", "pull_request", "discussion"]) {
      const number = readText(payload, name, "number");
      if (number !== "") return { url: readText(payload, name, "html_url"), id: `${repository}#${number}` };
    }
    const pull = readPullOfCi(payload);
    if (pull === "") return { url: "", id: "" };
    return { url: `${readText(payload, "repository", "html_url")}/pull/${pull}`, id: `${repository}#${pull}` };
  },

  gitlab(payload, repository) {
    const kind = readText(payload, "object_kind");
    const own = readMember(payload, "object_attributes");
    const request = kind === "merge_request" ? own : readMember(payload, "merge_request");
    const issue = kind === "issue" || kind === "work_item" ? own : readMember(payload, "issue");
    const [mark, found] = readText(request, "iid") === "" ? ["#", issue] : ["!", request];
    const iid = readText(found, "iid");
    return { url: readText(found, "url"), id: iid === "" ? "" : `${repository}${mark}${iid}` };
  },

  slack(payload) {
    const event = readMember(payload, "event") ?? payload;
    const team = firstText(readText(payload, "team_id"), readText(payload, "team", "id"));
    const channel = firstText(readText(event, "channel"), readText(event, "channel", "id"));
    const time = firstText(readText(event, "thread_ts"), readText(event, "ts"));
    if ([team, channel, time].some((one) => !/^[\w.]+$/.test(one))) return { url: "", id: "" };
    return {
      url: `https://app.slack.com/client/${team}/${channel}/thread/${channel}-${time}`,
      id: `${channel}/${time}`,
    };
  },

  linear(payload) {
    const data = readMember(payload, "data");
    const issue = readText(payload, "type") === "Issue" ? data : readMember(data, "issue");
    const url = firstText(readText(issue, "url"), readText(payload, "url"));
    return { url: url.replace(/#.*$/, ""), id: readText(issue, "identifier") };
  },

  jira(payload) {
    const key = readText(payload, "issue", "key");
    const origin = URL.parse(readText(payload, "issue", "self"))?.origin ?? "";
    return { url: key === "" || origin === "" ? "" : `${origin}/browse/${encodeURIComponent(key)}`, id: key };
  },

  sentry(payload) {
    const data = readMember(payload, "data");
    const issue = readMember(data, "issue");
    const id = firstText(
      readText(issue, "shortId"),
      readText(issue, "id"),
      readText(data, "event", "issue_id"),
      readText(data, "error", "issue_id"),
    );
    const url = firstText(readText(issue, "web_url"), readText(data, "event", "web_url"), readText(data, "web_url"));
    return { url, id };
  },

  pagerduty(payload) {
    const data = readMember(payload, "event", "data");
    const incident = readText(data, "incident", "id") === "" ? data : readMember(data, "incident");
    return { url: readText(incident, "html_url"), id: readText(incident, "id") };
  },
};
