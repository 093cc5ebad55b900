import type { SandboxProvider } from "#shared/settings.ts";
import type { SandboxChoice } from "./sandbox.ts";

/** What a run asks of its sandbox. */
export interface SandboxNeeds {
  /** The image that the run's environment names. */
  readonly dockerImage?: string | undefined;
  /** True where an execution of it has come to the end of its time before: it takes longer than a function may. */
  readonly isLong: boolean;
}

/**
 * The sandbox of an execution. `offered`: what this deployment has, the usual one first. An image of one's own needs a container,
 * without which its runs are refused before this; a long run goes on where it has hours; all others take the usual one.
 */
export function chooseSandbox(needs: SandboxNeeds, offered: readonly SandboxProvider[]): SandboxChoice {
  const { dockerImage, isLong } = needs;
  if (dockerImage !== undefined && offered.includes("fargate")) return { provider: "fargate", dockerImage };
  if (isLong && offered.includes("microvm")) return { provider: "microvm" };
  const usual = offered.find((provider) => provider !== "fargate");
  return { provider: usual ?? "lambda" };
}
