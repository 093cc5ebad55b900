import { Markdown } from "../ui/markdown/markdown.tsx";
import { Terminal } from "../ui/terminal/terminal.tsx";
import { outputText } from "./action-text.ts";
import type { ActionEntry } from "./feed.ts";
import { planText } from "./plan-text.ts";

/** A plan or a to-do list. Few runs have one, so it is no part of the first page. */
export function PlanDetails({ entry }: { readonly entry: ActionEntry }) {
  return (
    <div className="plan">
      <Markdown text={planText(entry.input)} />
      {entry.state === "failed" && <Terminal text={outputText(entry.output)} label="the error" />}
    </div>
  );
}
