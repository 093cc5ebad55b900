import { Refused } from "../../control-plane/control-plane.ts";
import type { ToolResult } from "../../engine/tool.ts";

/** What the control plane refuses becomes a result that the model may react to; the execution goes on. */
export async function catchRefusal(use: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { isError: true, output: { error: error.detail } };
  }
}
