import { vi } from "vitest";
import { runCommandLine } from "#server/command/command-line.ts";
import { type Program, packageProgram } from "#server/command/program.ts";

interface Printed {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command line of the package in this process, without colors. */
export async function runHere(args: readonly string[], program: Program = packageProgram({ HOME: "/nowhere" })) {
  const [log, error] = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  for (const spy of [log, error]) spy.mockReturnValue(undefined);
  try {
    const code = await runCommandLine(args, () => program);
    const read = ({ mock }: typeof log) => mock.calls.map((call) => String(call[0])).join("\n");
    return { code, output: read(log), errors: read(error) } satisfies Printed;
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}
