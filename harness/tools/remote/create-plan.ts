import * as v from "valibot";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { defineTool, type Tool } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { toWellFormed } from "../../support/text-limits.ts";
import { catchRefusal } from "./refused-call.ts";

export interface PlanOptions {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
  /** Names the plan of a run that has only one. */
  readonly runId: string;
}

/** Writes the run's plan as an artifact, or another version of it. */
export const createPlanTool = ({ plane, redactor, runId }: PlanOptions): Tool =>
  defineTool({
    name: "create_plan",
    description:
      "Writes down your plan for the user of this run as a document that is kept with it. Call it again with the whole plan when it has changed: " +
      "it replaces the one before. The answer names the document.",
    category: "documents",
    readsOnly: true,
    input: v.object({
      title: v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)),
      content: v.pipe(v.string(), v.nonEmpty(), v.description("The whole plan in Markdown, 256 KiB at most.")),
      document: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.maxLength(128),
          v.description("Only where a run has several plans: the name of this one."),
        ),
      ),
    }),
    run: ({ title, content, document = runId }) =>
      catchRefusal(async () => {
        const clean = (text: string) => redactor.text(toWellFormed(text));
        const data = { document_uid: clean(document), title: clean(title), content: clean(content) };
        const { artifact_uid } = await plane.reportArtifact({ artifact_type: "PLAN", data });
        return { output: { document: data.document_uid, artifact_uid } };
      }),
  });
