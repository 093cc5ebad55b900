import type { RunItem } from "../../clients/typescript/src/index.ts";
import { toWords } from "../ui/format.ts";
import { Markdown } from "../ui/markdown.tsx";
import { stateTone } from "../ui/run-state.tsx";
import { type Entry, questionOf } from "./feed.ts";

/** The question as it was asked. The message of the state has it on one line. */
const lastQuestion = (entries: readonly Entry[]): string | undefined =>
  questionOf(entries.findLast((entry) => questionOf(entry) !== undefined));

/** Why a run ended, or what it asks. */
export function RunBanner({ run, entries }: { readonly run: RunItem; readonly entries: readonly Entry[] }) {
  const { status_message: status, state } = run;
  if (status === undefined) return null;
  return (
    <section className={`banner tone-${stateTone(state)}`} aria-label={state === "BLOCKED" ? "Question" : "Result"}>
      <Markdown text={(state === "BLOCKED" ? lastQuestion(entries) : undefined) ?? status.message} />
      {status.error_code !== undefined && (
        <p className="faint">
          {toWords(status.error_code)}
          {status.retryable === true && " · may succeed if it is run again"}
        </p>
      )}
    </section>
  );
}
