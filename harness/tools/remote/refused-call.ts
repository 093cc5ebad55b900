import { Refused } from "../../control-plane/control-plane.ts";
import type { ToolResult } from "../../engine/tool.ts";

/** Turns a refusal of the control plane into a result that the model can react to. The execution continues. */
export async function catchRefusal(use: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { isError: true, output: { error: error.detail } };
  }
}
