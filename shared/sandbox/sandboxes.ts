import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import type { Sandbox } from "./sandbox.ts";

/** Joins the sandboxes of several providers: each call goes to the provider that it names, which is created at its first use. */
export function sandboxes(create: Readonly<Partial<Record<SandboxProvider, () => Sandbox>>>): Sandbox {
  const created = new Map<SandboxProvider, Sandbox>();
  const find = (provider: SandboxProvider): Sandbox => {
    const sandbox = created.get(provider) ?? create[provider]?.();
    if (sandbox === undefined) throw new Error(`this deployment has no sandboxes of the provider ${provider}`);
    created.set(provider, sandbox);
    return sandbox;
  };
  return {
    start: (envelope, choice) => find(choice.provider).start(envelope, choice),
    stop: (placed) => find(placed.provider).stop(placed),
  };
}
