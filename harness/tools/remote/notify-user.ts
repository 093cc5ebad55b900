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

/** Tells the run's user something while the run goes on. */
export const createNotifyUserTool = ({ plane, redactor }: NotifyOptions): Tool =>
  defineTool({
    name: "notify_user",
    description:
      "Tells the user of this run something that cannot wait for its end, while you go on. Ten times a run at most, so keep it for what matters; " +
      "what you say at the end of your turn is read anyway. To ask something use ask_user.",
    category: "review",
    readsOnly: true,
    input: v.object({
      message: v.pipe(v.string(), v.nonEmpty(), v.description("Plain text of a few sentences, 4,096 bytes at most.")),
    }),
    run: ({ message }) =>
      catchRefusal(async () => {
        await plane.notifyUser(cutBytes(redactor.text(toWellFormed(message)), MESSAGE_BYTES));
        return { output: { told: true } };
      }),
  });
