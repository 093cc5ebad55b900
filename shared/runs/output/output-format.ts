import { invalid } from "#shared/errors.ts";
import { defaultModel, RUNBOOK_MODEL } from "#shared/models/models.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";

interface Requested {
  readonly config?: AmbientAgentConfig;
}

/** Drops an output schema that comes from a default, where the run's model only runs commands. */
export function withUsableOutput<R extends Requested>(filled: R, sent: Requested): R {
  const { output_schema, ...config } = filled.config ?? {};
  if (output_schema === undefined || sent.config?.output_schema !== undefined) return filled;
  const model = config.harness?.model_id ?? config.model_id ?? defaultModel();
  return model === RUNBOOK_MODEL ? { ...filled, config } : filled;
}

/** Refuses an output schema that no response of the run's model can fit. */
export function requireReadableOutput({ output_schema }: AmbientAgentConfig, modelId: string): void {
  if (output_schema === undefined || modelId !== RUNBOOK_MODEL) return;
  throw invalid(
    "config.output_schema",
    `must be left out with ${RUNBOOK_MODEL}, which runs commands and writes no JSON; or name another config.model_id`,
  );
}
