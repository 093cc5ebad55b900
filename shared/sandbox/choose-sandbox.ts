import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import { PROVIDERS } from "./providers.ts";
import type { SandboxChoice } from "./sandbox.ts";

/** What a run needs of its sandbox. */
export interface SandboxNeeds {
  /** The image of the run's environment. */
  readonly dockerImage?: string | undefined;
  /** True if an earlier execution reached its time limit: the run takes longer than a function may. */
  readonly isLong: boolean;
}

/**
 * Chooses the sandbox of an execution among the providers of this deployment, the default one first. A run with an image gets a container
 * if there are any. Other deployments execute images in their usual sandboxes, or refuse such runs earlier. A long run continues in a
 * sandbox without a short time limit.
 */
export function chooseSandbox(
  { dockerImage, isLong }: SandboxNeeds,
  offered: readonly SandboxProvider[],
): SandboxChoice {
  const container = offered.find((provider) => PROVIDERS[provider].takesImage);
  if (dockerImage !== undefined && container !== undefined) return { provider: container, dockerImage };
  const others = offered.filter((provider) => !PROVIDERS[provider].takesImage);
  const long = isLong ? others.find((provider) => PROVIDERS[provider].lasts) : undefined;
  return { provider: long ?? others[0] ?? "lambda" };
}
