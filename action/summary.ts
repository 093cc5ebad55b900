import { describeChanges, listChanges } from "../cli/src/changes/changes.ts";
import { formatRunLink } from "../cli/src/changes/pull-request-text.ts";
import { usageText } from "../cli/src/usage.ts";
import type { RunItem } from "../clients/typescript/src/index.ts";

/** A summary takes 1 MiB; so much of a response says enough. */
const LONGEST = 60_000;

/** What the page of the job says about the run, in Markdown. */
export function formatSummary(run: RunItem, response: string): string {
  const files = (run.artifacts ?? []).flatMap(({ data }) => ("filename" in data ? [data.filename] : []));
  const rows = [
    ["Run", formatRunLink(run)],
    ["Message", run.status_message && plain(run.status_message.message)],
    ["Run time", run.run_time],
    ["Model", run.agent_config?.model_id && plain(run.agent_config.model_id)],
    ["Usage", usageText(run.request_usage)],
    ...listChanges(run).map(({ git }): [string, string] => ["Changes", plain(`${git.path}: ${describeChanges(git)}`)]),
    ["Files", files.length === 0 ? undefined : files.map(plain).join(", ")],
  ].filter(([, value]) => value !== undefined);
  const text = response.length > LONGEST ? `${response.slice(0, LONGEST)}\n\n(cut)` : response;
  return [
    `### ${markOf(run)} ${plain(run.title)}: ${run.state}`,
    "",
    "| | |",
    "|---|---|",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    "",
    text,
    "",
  ].join("\n");
}

const MARKS: Readonly<Record<string, string>> = { SUCCEEDED: "✅", BLOCKED: "✋", CANCELLED: "⏹️" };

export const markOf = ({ state }: RunItem): string => MARKS[state] ?? "❌";

/** Text that is no Markdown, within a cell of a table. */
const plain = (text: string): string =>
  text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#|!~@]/g, (character) => `&#${character.charCodeAt(0)};`);
