import { Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { Code } from "../ui/code.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Markdown } from "../ui/markdown/markdown.tsx";
import { part } from "../ui/part.tsx";
import { actionTitle, asJson, outputText } from "./action-text.ts";
import type { ActionEntry } from "./feed.ts";
import { readText } from "./members.ts";

/** The output of an action. */
export const Terminal = part(async () => (await import("../ui/terminal/terminal.tsx")).Terminal);
const Diffs = part(async () => (await import("./changes/file-diff.tsx")).Diffs);
/** A plan or a to-do list. */
export const PlanDetails = part(async () => (await import("./plan-details.tsx")).PlanDetails);

/** Actions whose body shows what their summary says, or whose summary is the id of an artifact that the details name. */
const OWN_BODY: ReadonlySet<string> = new Set(["run_command", "ask_user", "notify_user", "report_artifact"]);

/** What an action does and what came of it. */
export const ActionBody = ({ entry }: { readonly entry: ActionEntry }) => (
  <>
    {entry.summary !== undefined && entry.summary !== "" && !OWN_BODY.has(entry.name) && (
      <p className="muted">{revealHidden(entry.summary)}</p>
    )}
    {entry.diff !== undefined && (
      <Suspense>
        <Diffs diff={entry.diff} />
      </Suspense>
    )}
    <Details entry={entry} />
  </>
);

const Details = ({ entry }: { readonly entry: ActionEntry }) => (
  <Suspense fallback={<div className="terminal" />}>
    <DetailsByName entry={entry} />
  </Suspense>
);

function DetailsByName({ entry }: { readonly entry: ActionEntry }) {
  if (entry.name === "run_command") return <CommandDetails entry={entry} />;
  if (entry.name === "create_plan" || entry.name === "todo") return <PlanDetails entry={entry} />;
  if (entry.name === "ask_user")
    return <Markdown text={readText(entry.input, "question") ?? outputText(entry.output)} />;
  if (entry.name === "notify_user") return <Markdown text={readText(entry.input, "message") ?? ""} />;
  if (entry.name === "start_agent") return <ChildDetails entry={entry} />;
  return <OtherDetails entry={entry} />;
}

function CommandDetails({ entry }: { readonly entry: ActionEntry }) {
  const command = readText(entry.input, "command") ?? "";
  // A command of one line is the title already.
  const isLong = command.trim() !== actionTitle(entry).text;
  const isRunning = entry.state === "running";
  const isLost = entry.state === "lost";
  const text = isRunning || isLost ? entry.live : outputText(entry.output);
  return (
    <>
      {isLong && command !== "" && <Code text={revealHidden(command.trimEnd().slice(0, 40_000))} language="bash" />}
      {isLost && text === "" && <p className="terminal-empty">The output was not recorded</p>}
      {isRunning && text === "" && <p className="terminal-empty">No output yet</p>}
      {(text !== "" || !(isRunning || isLost)) && <Terminal text={text} isLive={isRunning} label="the output" />}
    </>
  );
}

function ChildDetails({ entry }: { readonly entry: ActionEntry }) {
  const runId = readText(entry.output, "run_id");
  return (
    <>
      <Markdown text={readText(entry.input, "prompt") ?? ""} />
      {runId !== undefined && (
        <Link to="/runs/$runId" params={{ runId }} className="button button-plain button-small">
          Open the child run
        </Link>
      )}
      <Terminal text={outputText(entry.output)} label="the result" />
    </>
  );
}

function OtherDetails({ entry }: { readonly entry: ActionEntry }) {
  const input = asJson(entry.input);
  const output = entry.state === "running" ? entry.live : outputText(entry.output);
  return (
    <>
      {input !== "" && input !== "{}" && (
        <details className="folded">
          <summary>Input</summary>
          <Terminal text={input} label="the input" />
        </details>
      )}
      {output !== "" && (
        <details className="folded" open={entry.state === "failed" && entry.diff === undefined}>
          <summary>Result</summary>
          <Terminal text={output} label="the result" />
        </details>
      )}
    </>
  );
}
