import { readFinalMessage } from "#shared/conversations/conversation.ts";
import { readUsage } from "#shared/records/budget-account.ts";
import { toRoundedUsd } from "#shared/records/money.ts";
import { statusText } from "#shared/records/run.ts";
import { isEndedHead, type RunHead } from "#shared/records/run-head.ts";
import { computeCost } from "#shared/records/run-time.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { STATUS_PREFIX, toSafeMarkdown, toSafeSlackText } from "../systems/marker.ts";
import type { ReplyButtons } from "../systems/slack-blocks.ts";
import type { SetCheck, SetStatus } from "../systems/system-request.ts";
import type { Reply } from "./reply-store.ts";

/** Characters of an agent's text in a comment, and in a message of Slack, which displays 4,000 well. */
const MAX_COMMENT = 20_000;
const MAX_MESSAGE = 3_500;

/** Ports of the rules that read what a reply shows. */
export type RenderPorts = Pick<RunPorts, "table" | "runs" | "files" | "webUrl" | "sandboxUsdPerHour">;

export interface RenderedReply {
  readonly text: string;
  /** The buttons of the message; only on Slack. */
  readonly buttons?: ReplyButtons;
  /** The status of the commit; absent where there is none to set. */
  readonly status?: Pick<SetStatus, "state" | "context" | "description" | "url">;
  /** The same as a check run. */
  readonly check?: Pick<SetCheck, "status" | "conclusion">;
}

/** Renders the comment of a run by its present state; undefined where the run was deleted. */
export async function renderReply(reply: Reply, ports: RenderPorts): Promise<RenderedReply | undefined> {
  const found = await ports.runs.headAndBody(reply.run_id);
  if (found === undefined) return undefined;
  const { head, body } = found;
  const parts = [describeState(found), await readAnswer(head, reply, ports), await readLinks(head, ports)];
  const footer = await renderFooter(head, reply, ports);
  return {
    // All at once, since a part can change what is code in the next one.
    text: joinParts([toSafe(reply, joinParts(parts)), footer]),
    ...(reply.place.system === "slack" ? { buttons: toButtons(head, reply, ports) } : {}),
    ...(reply.pull === undefined ? {} : { status: toStatus(head, body.title, reply, ports), check: toCheck(head) }),
  };
}

const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

const toSafe = ({ place }: Reply, text: string): string =>
  place.system === "slack" ? toSafeSlackText(text) : toSafeMarkdown(text);

const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…` : text;

/** What became of the run, in a sentence, with the question that it asks. */
function describeState({ head, body: { title: name } }: FoundRun): string {
  const message = isEndedHead(head) ? (head.status_message?.message ?? "") : "";
  switch (head.state) {
    case "SUCCEEDED":
      return "";
    case "BLOCKED":
      return head.approval === undefined
        ? `${name} asks: ${message}\n\nReply in this thread to answer.`
        : `${name} is waiting for an approval: ${message}`;
    case "FAILED":
    case "ERROR":
      return `${name} failed: ${message}`;
    case "CANCELLED":
      return `${name} was cancelled.`;
    default:
      return `${name} is working on it.`;
  }
}

/** The agent's last message of an ended turn. While a later turn is executed, it is the answer of the one before. */
async function readAnswer(head: RunHead, reply: Reply, ports: RenderPorts): Promise<string> {
  const isShown = head.state === "SUCCEEDED" || (!isEndedHead(head) && head.followups > 0);
  if (!isShown) return "";
  const text = (await readFinalMessage(head, ports)).trim();
  if (text === "") return head.state === "SUCCEEDED" ? "Done." : "";
  return truncate(text, reply.place.system === "slack" ? MAX_MESSAGE : MAX_COMMENT);
}

/** The pull requests that the run has opened. */
async function readLinks(head: RunHead, { runs }: RenderPorts): Promise<string> {
  if (head.artifact_types?.includes("PULL_REQUEST") !== true) return "";
  const artifacts = await runs.artifacts(head.run_id);
  return artifacts
    .flatMap((artifact) => (artifact.artifact_type === "PULL_REQUEST" ? [artifact.data.url] : []))
    .filter((url) => /^https:\/\/[^\s<>|]+$/.test(url))
    .map((url) => `Pull request: ${url}`)
    .join("\n");
}

async function renderFooter(head: RunHead, { shows, place }: Reply, ports: RenderPorts): Promise<string> {
  const url = toUrl(head, ports);
  // On Slack, a button has the link.
  const showsLink = shows.includes("link") && url !== undefined && place.system !== "slack";
  const cost = shows.includes("cost") && isEndedHead(head) ? await readCost(head, ports) : undefined;
  return [
    ...(showsLink ? [`[Open the run](${url})`] : []),
    ...(cost === undefined ? [] : [`$${toRoundedUsd(cost).toFixed(2)}`]),
  ].join(" · ");
}

/** The cost of a run that has ended, in billionths of a dollar; undefined if it has made no model call and used no priced sandbox. */
async function readCost(head: RunHead, { table, sandboxUsdPerHour }: RenderPorts): Promise<number | undefined> {
  const [usage] = await readUsage([head], table);
  const compute = computeCost(head, head.updated_at, sandboxUsdPerHour) ?? 0;
  return (usage?.calls ?? 0) === 0 && compute === 0 ? undefined : (usage?.cost ?? 0) + compute;
}

function toButtons(head: RunHead, { shows }: Reply, ports: RenderPorts): ReplyButtons {
  const url = shows.includes("link") ? toUrl(head, ports) : undefined;
  return {
    run_id: head.run_id,
    ...(head.state === "BLOCKED" && head.approval === undefined ? { asks: true } : {}),
    ...(isEndedHead(head) ? {} : { stops: true }),
    ...(url === undefined ? {} : { url }),
  };
}

const toUrl = ({ run_id }: RunHead, { webUrl }: RenderPorts): string | undefined =>
  webUrl === undefined ? undefined : `${webUrl}/runs/${run_id}`;

const STATES = {
  SUCCEEDED: ["success", "The run has succeeded"],
  FAILED: ["failure", "The run has failed"],
  ERROR: ["error", "The run has failed because of an error of the service"],
  CANCELLED: ["error", "The run was cancelled"],
  BLOCKED: ["pending", "The run is waiting for an answer"],
} as const;

const CONCLUSIONS = { SUCCEEDED: "success", FAILED: "failure", ERROR: "failure", CANCELLED: "cancelled" } as const;

/** The state of the check run. A run that waits for an answer is in progress. */
function toCheck(head: RunHead): NonNullable<RenderedReply["check"]> {
  if (head.state === "QUEUED") return { status: "queued" };
  if (!isEndedHead(head) || head.state === "BLOCKED") return { status: "in_progress" };
  return { status: "completed", conclusion: CONCLUSIONS[head.state] };
}

/** The status of the head commit, which has the trigger's name. */
function toStatus(
  head: RunHead,
  title: string,
  { shows }: Reply,
  ports: RenderPorts,
): NonNullable<RenderedReply["status"]> {
  const [state, description] = isEndedHead(head)
    ? STATES[head.state]
    : (["pending", "The run is in progress"] as const);
  const url = shows.includes("link") ? toUrl(head, ports) : undefined;
  return {
    state,
    context: truncate(statusText(`${STATUS_PREFIX}${title}`), 110),
    description,
    ...(url === undefined ? {} : { url }),
  };
}
