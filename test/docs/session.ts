import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root, runCommand } from "../../scripts/run-command.ts";
import type { TestService } from "../support/service.ts";
import type { Block } from "./pages.ts";

export interface Outcome {
  readonly block: Block;
  /** False if a command failed, which ends the session. */
  readonly isComplete: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SessionOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Files of the checkout, by their names. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs blocks in one shell, in a directory that looks like a checkout in which `npm start` runs. Before each block it waits until
 * runs have ended, as a reader does.
 */
export async function runBlocks(
  service: TestService,
  blocks: readonly Block[],
  { environment, files }: SessionOptions,
): Promise<Outcome[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "runyard-docs-"));
  try {
    const checkout = path.join(folder, "checkout");
    makeCheckout(checkout, service);
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(checkout, name), text);
    const steps = blocks.map(({ text }, index) => {
      writeFileSync(path.join(folder, `${index}.sh`), text);
      return [
        WAIT,
        `source ${folder}/${index}.sh >${folder}/${index}.out 2>${folder}/${index}.err`,
        `echo 0 >${folder}/${index}.code`,
      ].join("\n");
    });
    writeFileSync(path.join(folder, "session.sh"), `shopt -s expand_aliases\nset -e\n${steps.join("\n")}\n`);
    await runCommand("env", ["-C", checkout, "bash", path.join(folder, "session.sh")], {
      timeoutSeconds: 150,
      env: { ...environment, SERVICE: service.baseUrl, SERVICE_KEY: service.apiKey, HOME: folder },
    });
    const read = (name: string) => {
      try {
        return readFileSync(path.join(folder, name), "utf8");
      } catch {
        return undefined;
      }
    };
    return blocks.map((block, index) => ({
      block,
      isComplete: read(`${index}.code`) !== undefined,
      stdout: read(`${index}.out`) ?? "",
      stderr: read(`${index}.err`) ?? "",
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs that their caller executes wait for it. The transcript is composed within moments of a run's end. */
const WAIT = `
ask() { curl -sS -H "Authorization: Bearer $SERVICE_KEY" "$SERVICE/agent/runs$1"; }
until [ "$(ask '?execution_location=REMOTE&state=QUEUED&state=PENDING&state=INPROGRESS' | grep -c '"run_id"')" = 0 ]; do
  sleep 0.2
done
latest=$(ask '?execution_location=REMOTE&limit=1' | grep -o '"run_id":"[^"]*"' | head -1 | cut -d'"' -f4)
until [ -z "$latest" ] || [ "$(ask "/$latest/transcript" | grep -c 'composed within moments')" = 0 ]; do sleep 0.2; done
`;

function makeCheckout(checkout: string, service: TestService): void {
  mkdirSync(path.join(checkout, ".runyard"), { recursive: true });
  symlinkSync(path.join(service.directory, "local.json"), path.join(checkout, ".runyard/local.json"));
  const own = new Set([".runyard", ".git", "dist", "cdk.out"]);
  for (const name of readdirSync(root)) {
    if (!own.has(name)) symlinkSync(path.join(root, name), path.join(checkout, name));
  }
}
