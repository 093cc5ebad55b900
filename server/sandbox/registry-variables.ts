import { logLine } from "#shared/log/log.ts";
import type { Program } from "#shared/sandbox/harness-process.ts";
import { readRegistries } from "../host/provider-file.ts";

/**
 * Returns a function that passes the registries of the data directory's file to a harness that keeps images, whose commands are isolated:
 * others could read its variables. The file is read for each one, so that new passwords take effect without a restart. While it is not
 * valid, runs start with what it had before.
 */
export function createRegistryVariables(
  directory: string,
  environment: NodeJS.ProcessEnv,
): (program: Program) => Program {
  let registries: ReturnType<typeof readRegistries> = [];
  return (program) => {
    if (program.environment?.["RUNYARD_IMAGES"] === undefined) return program;
    try {
      registries = readRegistries(directory, environment);
    } catch (error) {
      logLine("warn", "the registries of images could not be read", { error });
    }
    if (registries.length === 0) return program;
    return { ...program, environment: { ...program.environment, RUNYARD_REGISTRIES: JSON.stringify(registries) } };
  };
}
