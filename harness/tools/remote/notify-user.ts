import * as v from "valibot";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { defineTool, type Tool } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { cutBytes, toWellFormed } from "../../support/text-limits.ts";
import { catchRefusal } from "./refused-call.ts";

const MESSAGE_BYTES = 4_096;

export interface NotifyOptions {
  readonly plane: Pick<ControlPlane, "notifyUser">;
  readonly redactor: Redactor;
}

/** Creates the tool that notifies the user (does not end the turn). */
export const createNotifyUserTool = ({ plane, redactor }: NotifyOptions): Tool =>
  defineTool({
    name: "notify_user",
    description:
      "Notifies the user of this run while you continue. Use it only for what cannot wait until the end of your turn, which the user reads " +
      "anyway: a run has ten notifications at most. To ask a question, use ask_user.",
    category: "review",
    readsOnly: true,
    input: v.object({
      message: v.pipe(v.string(), v.nonEmpty(), v.description("A few sentences of plain text, 4,096 bytes at most.")),
    }),
    run: ({ message }) =>
      catchRefusal(async () => {
        await plane.notifyUser(cutBytes(redactor.text(toWellFormed(message)), MESSAGE_BYTES));
        return { output: { told: true } };
      }),
  });
