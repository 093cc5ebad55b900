import { ArtifactResponse } from "#shared/wire/artifact.ts";
import { RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { oneLine } from "../../../cli/src/terminal-text.ts";
import { type Api, callApi } from "../api.ts";
import { bold, dim, green, red, say, seconds, yellow } from "../terminal.ts";
import { type FollowedRun, followRun } from "./follow.ts";
import { samplePrompt } from "./sample-prompt.ts";
import type { SampleSource } from "./sample-repository.ts";

/** Runs a real agent on a real repository and shows on the terminal what it does. */
export async function sampleRun(api: Api, source: SampleSource, runTests: boolean): Promise<boolean> {
  say();
  say(`${bold("Sample run")}  ${source.skill} on ${source.remark}`);
  const since = Date.now();
  const created = await callApi(api, "POST", "/agent/runs", RunAgentResponse, {
    title: "Repository report",
    prompt: samplePrompt(runTests),
    config: { model_id: "local/runbook", repositories: source.repositories, skill_spec: source.skill },
  });
  const followed = await followRun(api, { runId: created.run_id, since, print: say });
  await showResult(api, followed, Date.now() - since);
  return followed.run.state === "SUCCEEDED";
}

async function showResult(api: Api, followed: FollowedRun, tookMs: number): Promise<void> {
  const { run, firstCommandMs } = followed;
  say();
  const succeeded = run.state === "SUCCEEDED";
  say(
    `${bold("Result")}      ${succeeded ? green(run.state) : red(run.state)} after ${seconds(tookMs)}  ${dim(run.run_id)}`,
  );
  if (run.status_message !== undefined) say(`            ${yellow(oneLine(run.status_message.message))}`);
  if (firstCommandMs !== undefined)
    say(`            ${(firstCommandMs / 1000).toFixed(2)} s from submit to first command`);
  const files = (run.artifacts ?? []).flatMap((artifact) => (artifact.artifact_type === "FILE" ? [artifact.data] : []));
  const report = files.find(({ filename }) => filename === "report.md");
  if (report === undefined) return;
  const artifact = await callApi(api, "GET", `/agent/artifacts/${report.artifact_uid}`, ArtifactResponse);
  if (artifact.artifact_type !== "FILE") return;
  const response = await fetch(artifact.data.download_url, { signal: AbortSignal.timeout(20_000) });
  const lines = (await response.text()).split("\n");
  say();
  say(`${bold("report.md")}   ${dim(`the first of its ${lines.length} lines`)}`);
  for (const line of lines.slice(0, 14)) say(`  ${dim("│")} ${oneLine(line.slice(0, 110))}`);
}
