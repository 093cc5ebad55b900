import type { RunItem } from "../../clients/typescript/src/index.ts";
import { toWords } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { Markdown } from "../ui/markdown.tsx";
import { stateTone } from "../ui/run-state.tsx";

/** Why a run ended, or what it asks. */
export function RunBanner({ run }: { readonly run: RunItem }) {
  const { status_message: status, state } = run;
  if (status === undefined) return null;
  return (
    <section className={`banner tone-${stateTone(state)}`} aria-label={state === "BLOCKED" ? "Question" : "Result"}>
      {state === "BLOCKED" ? (
        <Markdown text={status.message} />
      ) : (
        <p className="pre-line">{revealHidden(status.message)}</p>
      )}
      {status.error_code !== undefined && (
        <p className="faint">
          {toWords(status.error_code)}
          {status.retryable === true && " · may succeed if it is run again"}
        </p>
      )}
    </section>
  );
}
