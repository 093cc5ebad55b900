import type { EmulatorAccess } from "../emulator/emulator-access.ts";
import { LocalFile } from "../emulator/local-file.ts";
import { readJson } from "../server/host/files.ts";
import { localPaths, toDisplayPath } from "../server/host/paths.ts";
import { complain, Problem, red } from "../server/host/terminal.ts";

/** The emulator of the local cloud of this checkout. @throws Problem if it was never started */
export async function localEmulator(): Promise<EmulatorAccess> {
  const paths = localPaths(process.env);
  const local = await readJson(paths.localFile, LocalFile);
  if (local === undefined)
    throw new Problem(`There is no ${toDisplayPath(paths.localFile)}: run npm run emulator first.`);
  return { endpoint: local.emulator_url, secretKey: local.emulator_key };
}

/** Runs a program for a person: errors are printed without a stack, and the exit code is 1. */
export async function runByHand(main: (args: string[]) => Promise<void>): Promise<void> {
  await main(process.argv.slice(2)).catch((cause: unknown) => {
    const error = aboutCredentials(cause);
    const isOurs = error instanceof Problem;
    complain(red(isOurs ? error.message : String(error)));
    for (const line of isOurs ? error.details : []) complain(`\n${line}`);
    process.exitCode = 1;
  });
}

/** Replaces the SDK's error for a missing account with one that states the remedy; returns other errors unchanged. */
function aboutCredentials(error: unknown): unknown {
  const isAboutThem =
    (error instanceof Error && error.name === "CredentialsProviderError") || /region is missing/i.test(String(error));
  if (!isAboutThem) return error;
  return new Problem("There are no AWS credentials or no region: set AWS_PROFILE and AWS_REGION.", [
    "For the local cloud of this checkout, bootstrap and redrive have the option --local.",
  ]);
}
