/** The embedded model, which needs no network and no key. */
export const DEFAULT_MODEL = "local/runbook";

/** The models a run may name. */
export const MODELS = [
  {
    id: DEFAULT_MODEL,
    display_name: "Runbook",
    provider: "LOCAL",
    vision_supported: false,
    description:
      "Runs the fenced sh, bash and shell blocks of the prompt in order and stops at the first failure. It understands nothing else: no network, no key, no reasoning.",
    cost: { input_per_million_usd: 0, output_per_million_usd: 0 },
  },
] as const;

export const isKnownModel = (id: string): boolean => MODELS.some((model) => model.id === id);
