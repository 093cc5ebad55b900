import * as v from "valibot";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { defineTool, type Tool } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { toWellFormed } from "../../support/text-limits.ts";
import { catchRefusal } from "./refused-call.ts";

export interface PlanOptions {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
  /** The default name of the plan. */
  readonly runId: string;
}

/** Creates the tool that stores the run's plan, or a new version of it, as an artifact. */
export const createPlanTool = ({ plane, redactor, runId }: PlanOptions): Tool =>
  defineTool({
    name: "create_plan",
    description:
      "Stores your plan for the user of this run as a document. To change the plan, call it again with the complete plan, which replaces " +
      "the previous one. Returns the name of the document.",
    category: "documents",
    readsOnly: true,
    input: v.object({
      title: v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)),
      content: v.pipe(v.string(), v.nonEmpty(), v.description("The complete plan in Markdown, 256 KiB at most.")),
      document: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.maxLength(128),
          v.description("The name of this plan, only if the run has several plans."),
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
