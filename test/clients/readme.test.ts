import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { startService, type TestService } from "../support/service.ts";

const run = promisify(execFile);
const source = join(root, "clients/typescript");
const folder = mkdtempSync(join(tmpdir(), "runyard-readme-"));
const readme = readFileSync(join(source, "README.md"), "utf8");
const snippets = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
let service: TestService;

beforeAll(async () => {
  const starting = startService();
  const installed = join(folder, "node_modules/runyard");
  mkdirSync(installed, { recursive: true });
  const tsc = [join(root, "node_modules/.bin/tsc"), "-p", "tsconfig.build.json", "--outDir", join(installed, "dist")];
  await run(process.execPath, tsc, { cwd: source });
  cpSync(join(source, "package.json"), join(installed, "package.json"));
  symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
  snippets.forEach((code, index) => {
    writeFileSync(join(folder, `snippet-${index}.mts`), `${code.includes("const client =") ? "" : PRELUDE}${code}`);
  });
  service = await starting;
}, 300_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

/** The text of the README before its second snippet. */
const PRELUDE = 'import { Runyard as Client } from "runyard";\nconst client = new Client();\n';

describe("the README of the TypeScript client", () => {
  it("leads from installation to a followed run in ten lines", () => {
    expect(snippets[0]?.trim().split("\n").length).toBeLessThanOrEqual(10);
    expect(snippets.length).toBeGreaterThanOrEqual(10);
  });

  it("has snippets that compile strictly", async () => {
    const compilerOptions = { module: "nodenext", target: "es2022", strict: true, noUnusedLocals: true, noEmit: true };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, types: ["node"], skipLibCheck: true },
        include: ["*.mts"],
      }),
    );
    const tsc = join(source, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch(({ stdout }) => ({ stdout }));
    expect(stdout).toBe("");
  });

  it.each(snippets.map((code, index) => [findHeading(code), index] as const))(
    "has a snippet that runs: %s",
    async (_, index) => {
      const { stdout, stderr } = await runSnippet(index);
      expect(stderr).toBe("");
      expect(stdout).toMatch(PRINTED[index] ?? /$/);
    },
  );
});

function runSnippet(index: number): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, RUNYARD_API_KEY: service.apiKey, RUNYARD_BASE_URL: service.baseUrl };
  return run(process.execPath, [`snippet-${index}.mts`], { cwd: folder, env, timeout: 60_000 });
}

/** The most significant output of each snippet, in the README's order. */
const PRINTED: readonly RegExp[] = [
  /^1 run_created\n[\s\S]*run_succeeded\nSUCCEEDED/,
  /run_created[\s\S]*run_succeeded/,
  /SUCCEEDED Nightly tests/,
  /^\d+ \{ has_next_page: false \}/,
  /^assistant \[[\s\S]*Z run_succeeded$/m,
  /^CANCELLED$/m,
  /^downloads\/hello\.txt$/m,
  /^$/,
  /^\d{4}-\d\d-\d\dT/,
  /^service_account$/m,
  /^resource_not_found /m,
  /^[0-9a-f-]{36} \S+\n200 \{/,
];

function findHeading(code: string): string {
  const line = code.split("\n").find((text) => text.includes("client."));
  return (line ?? "").trim();
}
