import { runCommand } from "../../scripts/run-command.ts";

export const PYTHON_FOLDER = "clients/python";
const SECONDS = 86_400;

/** Runs mutmut on the hand-written part of the Python client. Resolves to its exit code: 1 where a mutant survives. */
export async function mutatePython(options: readonly string[]): Promise<number> {
  const { exitCode } = await runCommand(
    process.env["RUNYARD_PYTHON"] ?? "python3",
    [`${PYTHON_FOLDER}/scripts/mutate.py`, ...options],
    { show: true, timeoutSeconds: SECONDS },
  );
  return exitCode ?? 1;
}
