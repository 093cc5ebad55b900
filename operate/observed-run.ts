import * as v from "valibot";
import { RunEvents } from "#shared/wire/event.ts";
import { type Api, callApi } from "../server/host/api.ts";
import { Problem, say, seconds } from "../server/host/terminal.ts";
import { PROBE_SECRET } from "./try-sandbox-probes.ts";

const block = (command: string): string => `\`\`\`sh\n${command}\n\`\`\`\n`;

/** A run that reports its sandbox: the machine, the tools, and whether it can reach what it must not. */
export const FACTS = {
  title: "What this sandbox is like",
  prompt: [
    "uname -srm; id; grep -c ^processor /proc/cpuinfo; grep MemTotal /proc/meminfo; df -h . | tail -1",
    "for tool in git rg tar python3 node gcc curl; do command -v $tool || echo no $tool; done",
    "env | cut -d= -f1 | sort | tr '\\n' ' '; env | grep -c AWS_ || true",
    // No role means that nothing returns a credential.
    'for host in 169.254.169.254 169.254.170.2; do timeout 3 bash -c "</dev/tcp/$host/80" 2>/dev/null && echo $host answers || echo $host is silent; done',
  ]
    .map(block)
    .join("\n"),
};

/** A run that continues until it is cancelled. */
export const ATTEMPT = { title: "Work that is cancelled", prompt: block("sleep 500") };

const VARIABLE = `V=$${PROBE_SECRET}`;
/** Prints the secret as `grep` colors a part of it, and with a color around each character. */
const COLORS = [
  VARIABLE,
  `printf '%s\\n' "$V" | grep --color=always "$(printf '%s' "$V" | cut -c6-12)" || :`,
  `printf '%s\\n' "$V" | sed $'s/./\\e[31m&\\e[m/g'; echo colors`,
].join("\n");
/** Prints it as shlex.quote, HTML and Python's repr quote it. */
const QUOTES = [
  VARIABLE,
  `printf '%s\\n' "$V" | sed "s/'/'\\"'\\"'/g"`,
  `printf '%s\\n' "$V" | sed "s/'/\\&apos;/g; s/\\"/\\&quot;/g"`,
  `printf '%s\\n' "$V" | sed "s/'/\\\\\\\\'/g"; echo quotes`,
].join("\n");

/**
 * A run whose commands do to their sandbox what an attacker would: names that the harness uses become directories and links, a tree is deeper
 * than any path, a file cannot be read, a secret is printed in colors and as shells, HTML and Python quote it, and the last command's text
 * does not end. The harness must survive all of it and report the last command as failed.
 */
export const HOSTILE = {
  title: "Commands that attack their sandbox",
  prompt: [
    'mkdir -p "$TMPDIR/workspace.tar.gz" && for i in 1 2 3; do echo x > "$TMPDIR/workspace.tar.gz/$i"; done; ln -s / "$TMPDIR/changes.diff"; echo links',
    'ln -s /etc/passwd "$RUNYARD_OUTPUT/passwd"; ln -s / "$RUNYARD_OUTPUT/root"; mkfifo "$RUNYARD_OUTPUT/pipe"; echo artifacts',
    "name=$(printf 'd%.0s' $(seq 200)); (for i in $(seq 40); do mkdir $name && cd -P $name 2>/dev/null || break; done; echo x > end) || :; echo deep",
    "echo precious > kept; echo x > closed; chmod 0 closed; mkdir locked; echo y > locked/file; chmod 0 locked; echo unreadable",
    "bash -c 'truncate -s 1T sparse; :' 2>/dev/null; echo sparse",
    COLORS,
    QUOTES,
    "trap 'echo trapped' EXIT; exec 3>&-; echo traps",
    "cat <<'NEVER'\nthe last line of a document that does not end",
    "echo 'a quote that does not end",
  ]
    .map(block)
    .join("\n"),
};

export const Started = v.object({ run_id: v.string() });

/** The observed course of a run. Times are in milliseconds, and undefined for a step that it never reached. */
export interface Observed {
  readonly provider: string;
  readonly state: string;
  readonly why?: string | undefined;
  readonly queuedMs?: number | undefined;
  /** From the request to its provider to the first call of the harness. */
  readonly startMs?: number | undefined;
  readonly beganMs?: number | undefined;
  readonly wholeMs?: number | undefined;
  /** From the cancel to the report that the sandbox is gone. */
  readonly stopMs?: number | undefined;
  readonly stoppedBy?: string | undefined;
  /** What its commands printed. */
  readonly printed: readonly string[];
}

interface Following {
  readonly api: Api;
  /** True if the run is cancelled as soon as its agent works. */
  readonly cancels: boolean;
  /** Called before that, with the sequence of the last event. */
  readonly beforeCancel?: (runId: string, after: number) => Promise<void>;
  readonly timeoutMs: number;
}

type Event = RunEvents["events"][number];

/** Follows a run to the end of its events, prints each, and returns what it did. Throws Problem if it takes too long. */
export async function observed(runId: string, { api, cancels, beforeCancel, timeoutMs }: Following): Promise<Observed> {
  const deadline = Date.now() + timeoutMs;
  const events: Event[] = [];
  for (let after = 0, isOver = false, isCancelled = false; !isOver; ) {
    if (Date.now() > deadline) {
      throw new Problem(`Run ${runId} has not ended within ${seconds(timeoutMs)}.`, [
        `GET ${api.baseUrl}/agent/runs/${runId}/timeline`,
      ]);
    }
    const page = await callApi(api, "GET", `/agent/runs/${runId}/events?after=${after}&wait=20`, RunEvents);
    for (const event of page.events) printEvent(event, events);
    events.push(...page.events);
    after = page.next;
    isOver = page.ended;
    if (cancels && !isCancelled && !isOver && events.some(({ type }) => type === "agent_started")) {
      isCancelled = true;
      await beforeCancel?.(runId, after);
      await callApi(api, "POST", `/agent/runs/${runId}/cancel`, v.string());
    }
  }
  return summarize(events);
}

function printEvent(event: Event, before: readonly Event[]): void {
  const first = before[0] ?? event;
  if (event.type !== "messages") say(`  ${seconds(at(event) - at(first)).padStart(8)}  ${event.type}`);
}

function summarize(events: readonly Event[]): Observed {
  const first = (type: string) => events.find((event) => event.type === type);
  const last = (type: string) => events.findLast((event) => event.type === type);
  const pending = last("run_pending");
  const stopped = last("run_stopped");
  const end = events.findLast((event) => typeof event.data["state"] === "string" && event.type !== "run_stopped");
  const span = (from: Event | undefined, to: Event | undefined) =>
    from === undefined || to === undefined ? undefined : at(to) - at(from);
  return {
    provider: text(pending?.data["sandbox"]) ?? "lambda",
    state: text(end?.data["state"]) ?? "none",
    why: end?.data["is_error"] === true ? text(end.data["detail"]) : undefined,
    queuedMs: span(first("run_created"), pending),
    startMs: span(pending, last("worker_container_ready")),
    beganMs: span(pending, last("agent_started")),
    wholeMs: span(first("run_created"), end),
    stopMs: span(last("run_cancelled"), stopped),
    stoppedBy: text(stopped?.data["confirmed_by"]),
    printed: events.flatMap(printedIn),
  };
}

const Batch = v.object({
  messages: v.array(v.looseObject({ content: v.array(v.looseObject({ type: v.string() })) })),
});

function printedIn({ type, data }: Event): string[] {
  const batch = v.safeParse(Batch, data);
  if (type !== "messages" || !batch.success) return [];
  const results = batch.output.messages.flatMap(({ content }) => content.filter((one) => one.type === "action_result"));
  return results.flatMap((result) => formatOutput(result["output"]).split("\n")).filter((line) => line !== "");
}

/** A command's output is text next to its exit code. */
function formatOutput(output: unknown): string {
  if (typeof output === "string") return output;
  const first = Object.values(output ?? {}).find((value) => typeof value === "string");
  return first ?? "";
}

const at = (event: Event): number => Date.parse(event.occurred_at);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
