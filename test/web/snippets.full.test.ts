import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, runCommand } from "../../scripts/run-command.ts";
import { useWebApp } from "./support/web-app.ts";

const app = useWebApp();

/** Names and texts that a shell, JSON and Python read differently if they are not quoted. */
const FILES = [
  { name: `it's a "list" $FILE0.txt`, mimeType: "text/plain", content: "first `file` $HOME\n" },
  { name: "data.bin", mimeType: "", content: "second\u0001file\n" },
];
const PROMPT = `- Don't expand "$FILE0", \`id\` or \\n: true, null\n\n\`\`\`sh\ncat attachments/*\n\`\`\``;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "runyard-snippets-"));
  for (const { name, content } of FILES) await writeFile(path.join(directory, name), content);
  // The programs and packages that a user who copies the code has installed.
  await mkdir(path.join(directory, "bin"));
  const command = `#!/bin/sh\nexec ${process.execPath} ${path.join(root, "cli/src/main.ts")} "$@"\n`;
  await writeFile(path.join(directory, "bin/runyard"), command);
  await chmod(path.join(directory, "bin/runyard"), 0o755);
  const library = path.join(directory, "node_modules/runyard");
  await mkdir(library, { recursive: true });
  await writeFile(path.join(library, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
  const source = path.join(root, "clients/typescript/src/index.ts");
  await writeFile(path.join(library, "index.js"), `export * from ${JSON.stringify(source)};\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Executes the code as its reader would, in the directory of the files. */
const PROGRAMS: Readonly<Record<string, (code: string) => Promise<readonly [string, readonly string[]]>>> = {
  curl: async (code) => ["bash", ["-ec", code]],
  CLI: async (code) => ["bash", ["-ec", code]],
  TypeScript: async (code) => {
    await writeFile(path.join(directory, "run.ts"), code);
    return [process.execPath, ["run.ts"]];
  },
  Python: async (code) => {
    const script = path.join(root, "clients/python/scripts/check.py");
    const python = process.env["RUNYARD_PYTHON"] ?? "python3";
    // `npm run test:full` checks the Python client at the same time: the script waits for the end of that, up to 600 s.
    const { output } = await runCommand(python, [script, "--environment"], { timeoutSeconds: 900 });
    return [output.trim().split("\n").at(-1) ?? "", ["-c", code]];
  },
};

describe("the code next to the form of a new run", { timeout: 1_000_000 }, () => {
  it.each(Object.entries(PROGRAMS))("creates the same run by %s, with attachments", async (name, prepare) => {
    const { page } = await app.open("/runs/new");
    await page.getByLabel("Prompt", { exact: true }).fill(PROMPT);
    await page.getByLabel("Model", { exact: true }).selectOption("local/runbook");
    await page.getByLabel(/^Title/).fill(`By ${name}`);
    await page.getByLabel(/^Budget/).fill("2.50");
    const buffers = FILES.map((file) => ({ ...file, buffer: Buffer.from(file.content) }));
    await page.getByLabel("Attach files").setInputFiles(buffers);
    await page.getByRole("tab", { name }).click();
    const code = await page.getByRole("tabpanel").locator("pre").textContent();
    const [program, args] = await prepare(code ?? "");
    const { exitCode, output } = await runCommand(program, args, {
      cwd: directory,
      env: {
        HOME: directory,
        PATH: `${path.join(directory, "bin")}:${process.env["PATH"]}`,
        PYTHONPATH: path.join(root, "clients/python/src"),
        RUNYARD_API_KEY: app.key,
        RUNYARD_BASE_URL: app.baseUrl,
      },
    });
    expect(exitCode, `${code}\n--- printed:\n${output}`).toBe(0);
    const api = app.api();
    const { body } = await api.call("GET", `/agent/runs?q=${encodeURIComponent(`By ${name}`)}`);
    expect(body.runs, output).toHaveLength(1);
    const run = await api.ended(body.runs[0].run_id);
    expect(run).toMatchObject({ state: "SUCCEEDED", prompt: PROMPT, title: `By ${name}` });
    expect(run.agent_config).toMatchObject({ model_id: "local/runbook", budget_usd: 2.5 });
    const [printed] = await api.outputs(run.run_id);
    for (const { content } of FILES) expect(printed).toContain(content.trim());
  });
});
