import { readFileSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { models, RUNBOOK_MODEL } from "#shared/models/models.ts";
import { listSetting } from "#shared/settings.ts";
import { Model } from "#shared/wire/model.ts";
import { writeJson } from "./host/files.ts";

/** The file in the data directory that lists the models of providers which variables configure. */
const KNOWN_MODELS_FILE = "known-models.json";

const KnownModels = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ models: v.array(v.pick(Model, ["id", "display_name", "provider", "vision_supported"])) }),
);
type KnownModel = v.InferOutput<typeof KnownModels>["models"][number];

const VARIABLES: Readonly<Record<string, string>> = {
  anthropic: "RUNYARD_ANTHROPIC_API_KEY",
  openai: "RUNYARD_OPENAI_API_KEY",
  compatible: "RUNYARD_COMPATIBLE_BASE_URL and RUNYARD_COMPATIBLE_MODELS",
};

/**
 * Finds models that variables of an earlier start configured and that are missing now, and passes them to the service in a setting.
 * Otherwise schedules with these models would fail as if the models had never existed, or use the embedded model instead.
 */
export function findMissingModels(directory: string): readonly Model[] {
  process.env["MISSING_MODELS"] = "";
  const providers = listSetting("MODEL_PROVIDERS");
  const file = path.join(directory, KNOWN_MODELS_FILE);
  const missing = readKnownModels(file)
    .filter(({ id }) => !providers.includes(providerOf(id)))
    .map((model) => ({
      ...model,
      description: `An earlier start of the service had it. Set ${nameVariables(model)} again, or delete ${KNOWN_MODELS_FILE} in the data directory.`,
      disable_reason: "PROVIDER_OUTAGE" as const,
    }));
  if (missing.length > 0) process.env["MISSING_MODELS"] = JSON.stringify(missing);
  return missing;
}

/** Describes the missing models for those who start or check the service. */
export function describeMissingModels(missing: readonly Model[]): readonly string[] {
  const [first] = missing;
  if (first === undefined) return [];
  const ids = missing.map(({ id }) => id).join(", ");
  const [what, them] = missing.length === 1 ? [`The model ${ids} is`, "it"] : [`The models ${ids} are`, "them"];
  const variables = [...new Set(missing.map(nameVariables))].join(" and ");
  return [
    `${what} not available, and schedules that use ${them} do not run: set ${variables} as before, or delete ${KNOWN_MODELS_FILE} in the data directory.`,
  ];
}

/** Adds the models that variables configure to the file. */
export async function rememberModels(directory: string): Promise<void> {
  const providers = listSetting("MODEL_PROVIDERS");
  const offered = models()
    .filter(({ id }) => id !== RUNBOOK_MODEL && providers.includes(providerOf(id)))
    .map(({ id, display_name, provider, vision_supported }) => ({ id, display_name, provider, vision_supported }));
  const file = path.join(directory, KNOWN_MODELS_FILE);
  const known = readKnownModels(file);
  // A provider that is configured has exactly the models that it has now.
  const others = known.filter(({ id }) => !providers.includes(providerOf(id)));
  if (offered.length === 0 && others.length === known.length) return;
  await writeJson(file, { models: [...others, ...offered] });
}

const providerOf = (id: string): string => id.split("/", 1)[0] ?? id;
const nameVariables = ({ id }: Pick<Model, "id">): string => VARIABLES[providerOf(id)] ?? "its variables";

function readKnownModels(file: string): readonly KnownModel[] {
  try {
    const parsed = v.safeParse(KnownModels, readFileSync(file, "utf8"));
    return parsed.success ? parsed.output.models : [];
  } catch {
    return [];
  }
}
