import { defined } from "../cli/src/defined.ts";
import { agentUid } from "../cli/src/names.ts";
import { defaultAudience, exchangeOidcToken, hasGithubToken, requestGithubToken } from "../cli/src/oidc-token.ts";
import { describeResponse, explain } from "../cli/src/problem.ts";
import { buildConfig } from "../cli/src/run-config.ts";
import { oneLine } from "../cli/src/terminal-text.ts";
import { usageText } from "../cli/src/usage.ts";
import { APIError, APIUserAbortError, type RunItem } from "../clients/typescript/src/index.ts";
import { type ActionClient, createClient } from "./client.ts";
import { findPullRequest, formatComment, writeComment } from "./comment.ts";
import { addSummary, command, input, inputLines, type Job, printText, setOutput } from "./job.ts";
import { JobLog } from "./job-log.ts";
import { savePatches } from "./patches.ts";
import { formatSummary } from "./summary.ts";

/** Starts a run, follows it in the job's log, and returns the step's exit code. */
export async function runAction(job: Job): Promise<number> {
  const cancelled = new AbortController();
  const release = job.onCancel(() => cancelled.abort());
  try {
    const { client, minutes } = await readSettings(job);
    const runId = await createRun(job, client);
    const run = await follow(job, client, runId, { cancelled: cancelled.signal, minutes });
    const response = cancelled.signal.aborted ? "" : (await client.runs.response(runId)).text;
    report(job, run, response);
    // A runner soon kills a cancelled step.
    if (!cancelled.signal.aborted) await shareResults(job, client, run, response);
    return verdict(job, run, cancelled.signal.aborted);
  } catch (error) {
    command(job, "error", formatError(error), { title: "Runyard" });
    return 1;
  } finally {
    release();
  }
}

async function readSettings(job: Job): Promise<{ client: ActionClient; minutes: number }> {
  const baseURL = required(job, "base-url");
  const minutes = Number(input(job, "timeout-minutes") ?? DEFAULT_MINUTES);
  // A timer takes no more than 24.8 days.
  if (!(minutes > 0 && minutes <= 35_000)) throw new Error("timeout-minutes is a number above 0, up to 35,000.");
  if (!["true", "false", undefined].includes(input(job, "comment"))) throw new Error("comment is true or false.");
  const headers = { "x-run-source": "GITHUB_ACTION" };
  const apiKey = input(job, "api-key") ?? (await exchangeJobToken(job, baseURL));
  command(job, "add-mask", apiKey);
  return { client: createClient({ apiKey, baseURL, headers }), minutes };
}

/** Minutes after which the run is cancelled, unless the workflow names others. */
const DEFAULT_MINUTES = 60;
/** Minutes that the service limits a run to, at most. */
const MAX_TIME_LIMIT = 10_080;

const toTimeLimit = (minutes: string | undefined): number | undefined =>
  minutes === undefined || Number(minutes) > MAX_TIME_LIMIT ? undefined : Math.ceil(Number(minutes));

function toBudget(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const usd = Number(value);
  if (!Number.isFinite(usd)) throw new Error(`The input budget is a number, and ${value} is not.`);
  return usd;
}

/** Exchanges the OIDC token of the job for a key that expires. */
async function exchangeJobToken(job: Job, baseURL: string): Promise<string> {
  if (!hasGithubToken(job.env)) {
    throw new Error(
      "The input api-key is missing, and the job may not request an OIDC token in its place. Is the secret set, or the permission id-token: write?",
    );
  }
  const token = await requestGithubToken(job.env, input(job, "audience") ?? defaultAudience(baseURL));
  command(job, "add-mask", token);
  // The exchange itself needs no key.
  const { key } = await exchangeOidcToken(createClient({ apiKey: "none", baseURL }), token, input(job, "agent"));
  return key;
}

function required(job: Job, name: string): string {
  const value = input(job, name);
  if (value === undefined) throw new Error(`The input ${name} is missing. Is the secret or variable behind it set?`);
  return value;
}

async function createRun(job: Job, client: ActionClient): Promise<string> {
  const prompt = input(job, "prompt");
  const skill = input(job, "skill");
  if (prompt === undefined && skill === undefined)
    throw new Error("The input prompt is missing, and there is no skill.");
  const repo = inputLines(job, "repo");
  // With an OIDC token, the key itself is the agent's.
  const agent = input(job, "api-key") === undefined ? undefined : input(job, "agent");
  const config = await buildConfig(client, {
    env: input(job, "environment"),
    repo: repo.length === 0 ? undefined : repo,
    skill,
    model: input(job, "model"),
    budget: toBudget(input(job, "budget")),
    // The run ends by itself where the job is lost and cannot cancel it.
    timeout: toTimeLimit(input(job, "timeout-minutes")),
  });
  const body = defined({
    prompt,
    title: input(job, "title"),
    config,
    agent_identity_uid: agent === undefined ? undefined : await agentUid(client, agent),
    metadata: buildMetadata(job),
  });
  const { run_id, at_capacity } = await client.runs.create(body, { idempotencyKey: toIdempotencyKey(job) });
  setOutput(job, "run-id", run_id);
  printText(job, oneLine(`Run ${run_id}`), "");
  if (at_capacity === true) job.print("The team runs as much as it may at once: this run waits its turn.");
  return run_id;
}

/** Two steps of a job may be alike; each is a run of its own. */
function toIdempotencyKey(job: Job): string | undefined {
  const key = input(job, "idempotency-key");
  return key === undefined ? undefined : `github-${key}-${job.env["GITHUB_ACTION"] ?? ""}`.slice(0, 255);
}

/** Where the run comes from, and the workflow's own metadata. */
function buildMetadata(job: Job): Record<string, string> {
  const { env } = job;
  const repository = env["GITHUB_REPOSITORY"];
  const own = {
    "github.repository": repository,
    "github.sha": env["GITHUB_SHA"],
    "github.ref": env["GITHUB_REF"],
    "github.run": repository && `${env["GITHUB_SERVER_URL"]}/${repository}/actions/runs/${env["GITHUB_RUN_ID"]}`,
  };
  const inputs = inputLines(job, "metadata").map((line): [string, string] => {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`metadata is written name=value, one a line, and ${line} is not.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  // A very long branch name is omitted, since the run would be refused with it.
  const known = Object.entries(own).flatMap(([name, value = ""]): [string, string][] =>
    value === "" || Buffer.byteLength(value) > 256 ? [] : [[name, value]],
  );
  return Object.fromEntries([...known, ...inputs]);
}

/**
 * Milliseconds to wait for a run that is being cancelled. A runner gives a cancelled step 10 seconds, and the calls before
 * and after the wait may take all but these.
 */
const CANCELLED_GRACE = 2000;
const TIMEOUT_GRACE = 30_000;

/** Follows the run to its end. A cancelled job and a time that is up cancel the run, and wait a little for that. */
async function follow(
  job: Job,
  client: ActionClient,
  runId: string,
  { cancelled, minutes }: { cancelled: AbortSignal; minutes: number },
): Promise<RunItem> {
  const log = new JobLog(job);
  // A timer takes whole milliseconds only, and 4.1 minutes are 245,999.99999999997 of them.
  const late = AbortSignal.timeout(Math.ceil(minutes * 60_000));
  let after = 0;
  const toEnd = (signal: AbortSignal): Promise<RunItem> =>
    client.runs.followUntilDone(runId, {
      after,
      signal,
      onEvent: (event) => {
        after = event.sequence;
        log.show(event);
      },
    });
  try {
    return await toEnd(AbortSignal.any([cancelled, late]));
  } catch (error) {
    if (!(error instanceof APIUserAbortError)) throw error;
    log.close();
    const isCancelled = cancelled.aborted;
    const text = isCancelled ? "The job was cancelled." : `The run took longer than ${minutes} minutes.`;
    command(job, isCancelled ? "warning" : "error", `${text} Cancelling the run.`, { title: "Runyard" });
    // CI jobs are cancelled by force, because otherwise the job would wait for the run.
    await client.runs.cancel(runId, { force: true }, { timeout: 2500, maxRetries: isCancelled ? 1 : 5 }).catch(ended);
    const grace = AbortSignal.timeout(isCancelled ? CANCELLED_GRACE : TIMEOUT_GRACE);
    return await toEnd(grace).catch(() => client.runs.retrieve(runId, { timeout: 2000, maxRetries: 0 }));
  } finally {
    log.close();
  }
}

/** It had ended by itself. */
function ended(error: unknown): void {
  if (!(error instanceof APIError) || error.status !== 400) throw error;
}

function report(job: Job, run: RunItem, response: string): void {
  setOutput(job, "state", run.state);
  setOutput(job, "session-link", run.session_link ?? "");
  setOutput(job, "response", response);
  const summary = formatSummary(run, response);
  setOutput(job, "summary", summary);
  addSummary(job, summary);
  printText(job, oneLine(`${run.state} ${run.session_link ?? ""}`).trimEnd(), "");
  const usage = usageText(run.request_usage);
  if (usage !== undefined) printText(job, usage, "");
}

/** Saves the patch and writes the comment. The run has ended: a failure here is a warning and does not fail the step. */
async function shareResults(job: Job, client: ActionClient, run: RunItem, response: string): Promise<void> {
  const warn = (what: string) => (error: unknown) =>
    command(job, "warning", `${what}: ${formatError(error)}`, { title: "Runyard" });
  await savePatches(job, client, run)
    .then((files) => setOutput(job, "patch", files.join("\n")))
    .catch(warn("The patch could not be saved"));
  if (input(job, "comment") === "true")
    await commentOnPullRequest(job, run, response).catch(warn("The pull request has no comment"));
}

async function commentOnPullRequest(job: Job, run: RunItem, response: string): Promise<void> {
  const number = findPullRequest(job);
  if (number === undefined) throw new Error("the job's event is not about one.");
  const token = required(job, "github-token");
  await writeComment(job, { token, key: input(job, "comment-key") ?? "", number }, formatComment(run, response));
}

function verdict(job: Job, run: RunItem, isCancelled: boolean): number {
  if (run.state === "SUCCEEDED" && !isCancelled) return 0;
  const message = run.status_message?.message ?? `The run ended ${run.state}.`;
  const text = run.state === "BLOCKED" ? `The agent asks: ${message}` : message;
  const fails = isCancelled || input(job, "fail-on-failure") !== "false";
  command(job, fails ? "error" : "warning", text, { title: `Runyard: ${run.state}` });
  return fails ? 1 : 0;
}

function formatError(error: unknown): string {
  if (!(error instanceof APIError) || error.status === undefined) return explain(error).lines.join("\n");
  const remedy = error.status === 401 ? ["The key in api-key is not valid (any more)."] : [];
  return [...describeResponse(error), ...remedy].join("\n");
}
