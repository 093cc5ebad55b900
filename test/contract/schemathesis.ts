import { spawn } from "node:child_process";
import path from "node:path";
import { ensurePythonEnvironment } from "../../emulator/python-environment.ts";
import { projectRoot } from "../../server/host/paths.ts";
import type { ContractServer } from "./server.ts";

/** The default seed, so that failures are reproducible; SCHEMATHESIS_SEED sets another. */
const SEED = 20_260_518;

export interface Outcome {
  readonly seed: string;
  readonly exitCode: number;
  /** The output, with a request that reproduces each failure. */
  readonly printed: string;
  /** The report's file, with one JSON event per line. */
  readonly report: string;
}

/** Runs Schemathesis with all phases and all checks over every operation of the document. */
export async function runSchemathesis(server: ContractServer, folder: string): Promise<Outcome> {
  const seed = process.env["SCHEMATHESIS_SEED"] ?? String(SEED);
  const report = path.join(folder, "report.ndjson");
  const args = [
    ["--config-file", path.join(import.meta.dirname, "schemathesis.toml")],
    ["run", path.join(projectRoot, "docs/openapi.json")],
    ["--url", server.baseUrl],
    ["--phases", "examples,coverage,fuzzing,stateful"],
    ["--checks", "all"],
    // Configurations of agents have so many members that a generated one is large; it is sent all the same.
    ["--suppress-health-check", "large_base_example"],
    ["--seed", seed],
    ["--report-ndjson-path", report],
  ].flat();
  const program = path.join(await environment(), "bin", "schemathesis");
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: path.join(import.meta.dirname, "hooks.py"),
    RUNYARD_SEEDS_URL: server.seedsUrl,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const { exitCode, printed } = await run(program, args, { cwd: folder, env });
  return { seed, exitCode, printed, report };
}

/** Returns the virtual environment with exactly the packages of requirements.txt. Creates it if there is none. */
async function environment(): Promise<string> {
  const requirements = path.join(import.meta.dirname, "requirements.txt");
  const venv = path.join(projectRoot, ".runyard", "schemathesis");
  const python = process.env["RUNYARD_PYTHON"] ?? "python3";
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
  return venv;
}

function run(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  return new Promise<{ exitCode: number; printed: string }>((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? -1, printed: Buffer.concat(chunks).toString() }));
  });
}
