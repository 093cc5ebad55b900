import { BookOpen } from "lucide-react";
import { EntryView } from "../entries.tsx";
import { hasKey, type ReadsStep } from "./steps.ts";

/** Several reads in a row: folded, unless the address names one of them. */
export function Reads({ step, target }: { readonly step: ReadsStep; readonly target: string }) {
  return (
    <details className="reads" open={hasKey(step, target) || undefined}>
      <summary>
        <BookOpen size={15} aria-hidden />
        {step.reads.length} reads in a row
      </summary>
      {step.reads.map((read) => (
        <EntryView key={read.key} entry={read} isTarget={read.key === target} />
      ))}
    </details>
  );
}
