import { Suspense } from "react";
import { part } from "../../ui/part.tsx";
import { EntryView } from "../entries.tsx";
import type { Step } from "./steps.ts";

const Reads = part(async () => (await import("./reads.tsx")).Reads);

/** An entry of the conversation, or several reads as one step. */
export const StepView = ({ step, target }: { readonly step: Step; readonly target: string }) =>
  step.kind === "reads" ? (
    <Suspense fallback={<div className="reads" />}>
      <Reads step={step} target={target} />
    </Suspense>
  ) : (
    <EntryView entry={step} isTarget={step.key === target} />
  );
