import { Suspense, useState } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { isEnded, toWords } from "../../ui/format.ts";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { part } from "../../ui/part.tsx";
import { stateLabel, stateTone } from "../../ui/run-state.tsx";
import { type Entry, type Feed, questionOf } from "../feed.ts";
import { answerOf, failingStep } from "./outcome.ts";

/** What an ended run has made and cost. */
export const OutcomeFacts = part(async () => (await import("./outcome-facts.tsx")).OutcomeFacts);

/** The question as it was asked. The message of the state has it on one line. */
const lastQuestion = (entries: readonly Entry[]): string | undefined =>
  questionOf(entries.findLast((entry) => questionOf(entry) !== undefined));

interface OutcomeProps {
  readonly run: RunItem;
  readonly feed: Feed;
}

/** What came of a run, or what it asks: the answer or the failure, and what it has made. */
export function RunOutcome({ run, feed }: OutcomeProps) {
  const { status_message: status, state } = run;
  if (!isEnded(state)) return null;
  const name = state === "BLOCKED" ? "Question" : "Result";
  const text = (state === "BLOCKED" ? lastQuestion(feed.entries) : answerOf(run, feed.entries)) ?? status?.message;
  return (
    <section className={`banner tone-${stateTone(state)}`} aria-label={name}>
      <h2 className="visually-hidden">{name}</h2>
      <h3 className="visually-hidden">{stateLabel(state)}</h3>
      {text !== undefined && <OutcomeText text={text} isLong={state === "SUCCEEDED"} />}
      {status?.error_code !== undefined && (
        <p className="faint">
          {toWords(status.error_code)}
          {status.retryable === true && " · may succeed if it is run again"}
        </p>
      )}
      <Suspense fallback={<div className="outcome-facts" />}>
        <OutcomeFacts run={run} events={feed.events} failing={failingStep(run, feed.entries)?.key} />
      </Suspense>
    </section>
  );
}

/** Answers of more characters are folded: they are at the end of the conversation, too. */
const MAX_ANSWER = 600;

function OutcomeText({ text, isLong }: { readonly text: string; readonly isLong: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const isFolded = isLong && !isOpen && (text.length > MAX_ANSWER || text.split("\n").length > 8);
  return (
    <>
      <div className={isFolded ? "outcome-text folded-text" : "outcome-text"}>
        <Markdown text={text} />
      </div>
      {isFolded && (
        <button type="button" className="link-button" onClick={() => setOpen(true)}>
          Show the whole answer
        </button>
      )}
    </>
  );
}
