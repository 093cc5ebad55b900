import type { SandboxProvider } from "#shared/settings.ts";
import type { SandboxChoice } from "./sandbox.ts";

/** What a run needs of its sandbox. */
export interface SandboxNeeds {
  /** The image of the run's environment. */
  readonly dockerImage?: string | undefined;
  /** True if an earlier execution reached its time limit: the run takes longer than a function may. */
  readonly isLong: boolean;
}

/**
 * Chooses the sandbox of an execution among the providers of this deployment, the default one first. An image needs a container; a
 * deployment without containers refuses such runs earlier. A long run continues in a sandbox without a short time limit.
 */
export function chooseSandbox(needs: SandboxNeeds, offered: readonly SandboxProvider[]): SandboxChoice {
  const { dockerImage, isLong } = needs;
  if (dockerImage !== undefined && offered.includes("fargate")) return { provider: "fargate", dockerImage };
  if (isLong && offered.includes("microvm")) return { provider: "microvm" };
  const standard = offered.find((provider) => provider !== "fargate");
  return { provider: standard ?? "lambda" };
}
