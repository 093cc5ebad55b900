import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bundle, bundleSizes } from "#infra/bundle.ts";
import { loadedAtStart } from "#infra/bundle-parts.ts";
import { entryFiles } from "#infra/entries.ts";
import { defaultProvider } from "#infra/lambda-credentials.ts";
import { repository } from "./synthesize.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "runyard-bundle-"));
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

/** An endpoint of that file that responds with the file's name. */
function readDefinition(file: string): string {
  const name = file.replace(/^.*\//, "").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `export const ${name} = { lambda: (createPorts: () => object) => () => createPorts() && "${file}" };\n`;
}

/** Code that the bundler replaces by our own. */
const CREDENTIALS =
  'import { defaultProvider } from "@aws-sdk/credential-provider-node";\nexport const provider = defaultProvider();\n';
const BEDROCK =
  'import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";\nexport const client = () => new BedrockRuntimeClient({});\n';

describe("bundle", () => {
  it("names missing files of routes.ts and event-sources.ts", () => {
    expect(() => bundle({ root })).toThrow(/do not exist: functions\/runs\/create-run\.ts, .*harness\/main\.ts/);
  });

  it("builds one module per function, with the sandbox's programs, and the results run", async () => {
    for (const file of entryFiles) write(`functions/${file}.ts`, readDefinition(file));
    for (const file of globSync("*.ts", { cwd: join(repository, "shared/wiring") })) {
      const names =
        readFileSync(join(repository, "shared/wiring", file), "utf8").match(/\bcreate[A-Z]\w*Ports\b/g) ?? [];
      const ports = [...new Set(names)].map((name) => `export const ${name} = () => ({});\n`);
      write(`shared/wiring/${file}`, ports.join(""));
    }
    for (const file of globSync("shared/*/*-part.ts", { cwd: repository })) {
      write(file, `export const part = "${file}";\n`);
    }
    write("functions/executions/run-sandbox.ts", "export const [runSandbox, runSandboxAndExit] = [1, 2];\n");
    write("functions/docs/get-openapi.ts", CREDENTIALS + readDefinition("docs/get-openapi"));
    write("harness/later.ts", 'export const later = "loaded later";\n');
    write("harness/main.ts", `${BEDROCK}void import("./later.ts");\nprocess.stdout.write("harness");\n`);
    write("harness/scan-main.ts", '/*! a legal comment */ process.stdout.write("scan");\n');
    write("image/entry.ts", 'process.stdout.write("entry");\n');
    write("shared/triggers/expressions/worker.ts", 'process.stdout.write("expressions");\n');
    write("harness/files-main.ts", 'process.stdout.write("files");\n');
    write("harness/markdown-main.ts", 'process.stdout.write("markdown");\n');
    for (const file of ["Dockerfile", "package.json", "package-lock.json"]) write(`image/${file}`, "{}");
    for (const stale of ["functions/runs/stale.mjs", "entries/stale.ts", "image/stale"]) write(`dist/${stale}`, "");
    const made = bundle({ root });
    for (const file of entryFiles) expect(existsSync(join(made.assetDir(file), "index.mjs")), file).toBe(true);
    expect(existsSync(join(made.assetDir("executions/run-sandbox"), "harness.mjs"))).toBe(true);
    const { handler } = await import(pathToFileURL(join(made.assetDir("runs/get-run"), "index.mjs")).href);
    expect(handler()).toBe("runs/get-run");
    const handlers = await import(pathToFileURL(join(made.assetDir("executions/run-sandbox"), "index.mjs")).href);
    expect(handlers).toMatchObject({ handler: 1, sharedHandler: 2 });
    expect(existsSync(join(made.assetDir("executions/run-sandbox"), "scan.mjs"))).toBe(true);
    expect(existsSync(join(made.assetDir("executions/run-sandbox"), "files.mjs"))).toBe(true);
    // The programs of the sandbox, what the harness loads later, and the thread that evaluates expressions.
    expect(bundleSizes(made)).toHaveLength(entryFiles.length + 7);
    const metafile: unknown = JSON.parse(readFileSync(join(root, "dist/metafile.json"), "utf8"));
    expect(metafile).toEqual(made.metafile);
    for (const input of ["harness/main.ts", "functions/runs/get-run.ts", "functions/executions/end-run.ts"]) {
      expect(made.metafile.inputs).toHaveProperty([input]);
    }

    const sandbox = readdirSync(made.assetDir("executions/run-sandbox"));
    const [part] = sandbox.filter((file) => /^part-.*\.mjs$/.test(file));
    expect(sandbox.filter((file) => file.endsWith(".mjs") && file !== part).toSorted()).toEqual([
      ...["entry.mjs", "files.mjs", "harness.mjs", "index.mjs", "markdown.mjs", "scan.mjs"],
    ]);
    expect(sandbox).toContain("index.mjs.map");
    const read = (file: string, asset = "executions/run-sandbox") =>
      readFileSync(join(made.assetDir(asset), file), "utf8");
    expect(read("scan.mjs")).toMatch(/^import\{createRequire as \w+\}|^import \{ createRequire as nodeRequire \}/);
    expect(read("scan.mjs")).not.toContain("legal comment");
    expect(read("scan.mjs")).not.toContain("sourceMappingURL");
    expect(read("harness.mjs") + read(part ?? "")).toContain("an execution calls models at the model gateway alone");
    expect(read("index.mjs", "docs/get-openapi")).toContain("the environment holds no AWS credentials");

    const parts = readdirSync(join(made.assetDir("runs/create-run"), "aws"));
    const names = ["files", "invocation", "queue", "timers", "timetable"];
    expect(parts.toSorted()).toEqual(names.map((name) => `${name}-part.mjs`));
    for (const file of ["executions/dispatch-run", "docs/get-openapi", "keys/create-key"]) {
      expect(existsSync(join(made.assetDir(file), "aws")), `${file} loads its adapters at once`).toBe(false);
    }
    expect(readdirSync(made.imageDir()).toSorted()).toEqual(
      [
        ...["Dockerfile", "entry.mjs", "files.mjs", "harness.mjs", "markdown.mjs", "package-lock.json", "package.json"],
        "scan.mjs",
        part,
      ].toSorted(),
    );
    for (const stale of ["functions/runs/stale.mjs", "entries/stale.ts", "image/stale"]) {
      expect(existsSync(join(root, "dist", stale)), stale).toBe(false);
    }
  });
});

describe("bundleSizes", () => {
  const output = (bytes: number, inputs: Record<string, number>, imports: readonly string[] = []) => ({
    bytes,
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, bytesInOutput]) => [name, { bytesInOutput }])),
    imports: imports.map((path) => ({ path, kind: "import-statement" as const })),
    exports: [],
  });
  const metafile = {
    inputs: {},
    outputs: {
      "dist/functions/runs/a/index.mjs": output(10, { "shared/a.ts": 7, "node_modules/@aws-sdk/x.js": 3 }, [
        "./aws/part.mjs",
        "node:fs",
      ]),
      "dist/functions/runs/a/index.mjs.map": output(99, {}),
      "dist/functions/runs/a/aws/part.mjs": output(5, { "shared/b.ts": 5 }, ["dist/functions/runs/a/index.mjs"]),
      "dist/functions/runs/b/index.mjs": output(100, { "docs/openapi.json": 60, "shared/c.ts": 40 }),
      "dist/functions/x/run-sandbox/harness.mjs": output(50, { "harness/main.ts": 50 }, ["./aws/part.mjs"]),
    },
  };

  it("counts what a module loads at its start, and of it what is not the SDK's or the document's", () => {
    expect(bundleSizes({ metafile })).toEqual([
      { output: "runs/b/index.mjs", bytes: 100, ownBytes: 40 },
      { output: "x/run-sandbox/harness.mjs", bytes: 50, ownBytes: 50 },
      { output: "runs/a/index.mjs", bytes: 15, ownBytes: 12 },
    ]);
    expect(loadedAtStart(metafile, "none")).toEqual([]);
  });

  it("leaves out what a module loads later, and names a file by its end where its path is unknown", () => {
    const { "dist/functions/runs/a/index.mjs": index, "dist/functions/runs/a/aws/part.mjs": part } = metafile.outputs;
    const later = [{ path: "dist/functions/runs/a/aws/part.mjs", kind: "dynamic-import" as const }];
    const outputs = { ...metafile.outputs, "dist/functions/runs/a/index.mjs": { ...index, imports: later } };
    expect(loadedAtStart({ ...metafile, outputs }, "runs/a/index.mjs")).toEqual([{ ...index, imports: later }]);
    expect(loadedAtStart(metafile, "runs/a/index.mjs")).toEqual([index, part]);
    expect(loadedAtStart(metafile, "part.mjs")).toEqual([part, index]);
    expect(loadedAtStart(metafile, "art.mjs"), "a part of a name").toEqual([]);
  });
});

describe("the credentials of a function", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("are those of its environment, with the token where there is one", async () => {
    const provide = defaultProvider();
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]) vi.stubEnv(name, undefined);
    await expect(provide()).rejects.toThrow("the environment holds no AWS credentials");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
    await expect(provide()).rejects.toThrow("the environment holds no AWS credentials");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    expect(await provide()).toEqual({ accessKeyId: "id", secretAccessKey: "secret" });
    vi.stubEnv("AWS_SESSION_TOKEN", "token");
    expect(await provide()).toEqual({ accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" });
  });
});
