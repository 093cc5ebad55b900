import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, root, runCommand } from "../../scripts/run-command.ts";

let copy = "";
/** A repository with few folders, for checks of single files. */
let sharedCopy = "";
const planted: string[] = [];

beforeAll(() => {
  copy = copyWorkingTree(".");
  sharedCopy = copyWorkingTree(
    "shared",
    "infra",
    "scripts",
    "package.json",
    "tsconfig.json",
    "biome.json",
    ".oxlintrc.json",
    ".gitignore",
  );
});

afterEach(() => {
  for (const file of planted.splice(0)) rmSync(file);
});

afterAll(() => {
  for (const folder of [copy, sharedCopy]) rmSync(folder, { recursive: true, force: true });
});

describe("npm run check", () => {
  it("fails on a type error, an unchecked index and an absent member set to undefined", async () => {
    plant("shared/runs/type.ts", 'export const seconds: number = "ten";\n', sharedCopy);
    plant("shared/runs/index.ts", "export const first: number = [1, 2].slice(1)[0];\n", sharedCopy);
    plant("shared/runs/absent.ts", "export const options: { limit?: number } = { limit: undefined };\n", sharedCopy);
    const result = await check("tsc", sharedCopy);
    expectFailure(result, "shared/runs/type.ts", "TS2322");
    expectFailure(result, "shared/runs/index.ts", "TS2322");
    expectFailure(result, "shared/runs/absent.ts", "TS2375");
  });

  it("fails on a promise that nobody awaits, whatever the name of its function, and on a switch without one of its cases", async () => {
    plant(
      "shared/runs/promise.ts",
      "export const store = (write: () => Promise<void>) => ({ save: () => write() });\n",
      sharedCopy,
    );
    const floating =
      'import { store } from "./promise.ts";\n\nexport async function run(write: () => Promise<void>): Promise<void> {\n  store(write).save();\n}\n';
    plant("shared/runs/floating.ts", floating, sharedCopy);
    const open =
      'export function name(kind: "a" | "b"): void {\n  switch (kind) {\n    case "a":\n      break;\n  }\n}\n';
    plant("shared/runs/open.ts", open, sharedCopy);
    const result = await check("promises", sharedCopy);
    expectFailure(result, "shared/runs/floating.ts:4", "no-floating-promises");
    expectFailure(result, "shared/runs/open.ts", "switch-exhaustiveness-check");
  });

  it("fails on any, a non-null assertion, a type assertion, a promise without await or void, and other formatting", async () => {
    plant("shared/runs/any.ts", "export const loose: any = 1;\n", sharedCopy);
    plant("shared/runs/bang.ts", "export const sure = [1].at(0)!;\n", sharedCopy);
    plant("shared/runs/assertion.ts", 'export const asserted = JSON.parse("1") as number;\n', sharedCopy);
    plant("shared/runs/quotes.ts", "export const quoted = 'single'\n", sharedCopy);
    plant(
      "shared/runs/dropped.ts",
      "export function drop(write: () => Promise<void>): void {\n  write().catch(() => undefined);\n}\n",
      sharedCopy,
    );
    const result = await check("biome", sharedCopy);
    expectFailure(result, "shared/runs/any.ts", "noExplicitAny");
    expectFailure(result, "shared/runs/bang.ts", "noNonNullAssertion");
    expectFailure(result, "shared/runs/assertion.ts", "plugin");
    expectFailure(result, "shared/runs/dropped.ts:2", "plugin");
    expectFailure(result, "shared/runs/quotes.ts", "format");
  });

  it("fails on an unused file, an unused export and a package that is not a dependency", async () => {
    plant(
      "test/domain/planted.test.ts",
      'import "left-pad";\nimport { used } from "#shared/runs/planted.ts";\n\nused();\n',
    );
    plant("shared/runs/planted.ts", "export const used = () => 1;\nexport const unused = 2;\n");
    plant("shared/runs/nobody.ts", "export const nobody = 1;\n");
    const result = await check("knip");
    expectFailure(result, "shared/runs/nobody.ts");
    expectFailure(result, "unused", "shared/runs/planted.ts");
    expectFailure(result, "left-pad", "test/domain/planted.test.ts");
  });

  it("fails on a folder of shared/ or harness/ with more than 30 files", async () => {
    for (let index = 1; index <= 30; index++) plant(`shared/planted/file-${index}.ts`, "export {};\n");
    expect(await check("folders")).toMatchObject({ exitCode: 0 });
    plant("shared/planted/file-31.ts", "export {};\n");
    for (let index = 1; index <= 31; index++) plant(`harness/planted/file-${index}.ts`, "export {};\n");
    const result = await check("folders");
    expectFailure(result, "shared/planted: 31 files");
    expectFailure(result, "harness/planted: 31 files");
  });

  it("fails on a check that does not exist", async () => {
    expectFailure(await check("encoding"), "there is no such check");
  });
});

describe("npm run check -- layers", () => {
  const violations = [
    ["functions-call-shared-only", "functions/runs/planted.ts", "functions/artifacts/other.ts"],
    ["shared-imports-shared-only", "shared/runs/planted.ts", "functions/runs/other.ts"],
    ["infra-loads-no-runtime-code", "infra/planted.ts", "shared/runs/other.ts"],
    ["runtime-loads-no-cdk", "functions/runs/planted.ts", "infra/other.ts"],
    ["wire-is-pure", "shared/wire/planted.ts", "shared/runs/other.ts"],
    ["harness-speaks-http-only", "harness/planted.ts", "shared/runs/other.ts"],
    ["clients-speak-http-only", "cli/planted.ts", "shared/runs/other.ts"],
    ["host-serves-every-program", "server/host/planted.ts", "emulator/other.ts"],
    ["image-begins-the-sandbox", "image/planted.ts", "shared/runs/other.ts"],
    ["command-stands-on-the-client", "action/planted.ts", "shared/wire/other.ts"],
    ["nothing-imports-tests", "shared/runs/planted.ts", "test/support/other.ts"],
    ["contracts-import-contracts-only", "shared/wire/planted.ts", "shared/table/other.ts"],
    ["ports-import-contracts-only", "shared/table/planted.ts", "shared/records/other.ts"],
    ["records-import-ports-only", "shared/records/planted.ts", "shared/principals/other.ts"],
    ["access-imports-records-only", "shared/http/planted.ts", "shared/runs/other.ts"],
    ["adapters-import-ports-only", "shared/aws/planted.ts", "shared/runs/other.ts"],
    ["only-wiring-joins-domains-and-adapters", "functions/runs/planted.ts", "shared/wiring/other.ts"],
    ["only-wiring-joins-domains-and-adapters", "shared/runs/planted.ts", "shared/aws/other.ts"],
  ] as const;
  const packages = [
    ["aws-is-spoken-at-the-edges", "shared/runs/planted.ts", "@aws-sdk/client-dynamodb"],
    ["aws-is-spoken-at-the-edges", "functions/runs/planted.ts", "@aws-sdk/client-sqs"],
    ["server-loads-no-aws-client", "server/planted.ts", "@aws-sdk/client-sqs"],
    ["runtime-loads-no-cdk", "shared/http/planted.ts", "aws-cdk-lib"],
    ["wire-is-pure", "shared/wire/planted.ts", "node:fs"],
    ["harness-speaks-http-only", "harness/planted.ts", "@aws-sdk/client-s3"],
    ["no-dev-dependency-at-runtime", "functions/runs/planted.ts", "fast-check"],
    ["everything-resolves", "functions/runs/planted.ts", "./nowhere.ts"],
  ] as const;
  let result: CommandResult;

  beforeAll(async () => {
    for (const [index, [, from, to]] of violations.entries()) {
      plant(to, "export type Planted = string;\n");
      const path = `${upwards(from)}${to}`;
      plant(numbered(from, index), `import type { Planted } from "${path}";\n\nexport type Mine = Planted;\n`);
    }
    for (const [index, [, from, name]] of packages.entries()) {
      const text = `import * as planted from "${name}";\n\nexport const mine = planted;\n`;
      plant(numbered(from, violations.length + index), text);
    }
    const value = 'import { keys } from "#shared/table/keys.ts";\n\nexport const mine = keys;\n';
    for (const folder of ["shared/runs", "functions/runs", "shared/records"]) plant(`${folder}/keyed.ts`, value);
    plant("shared/runs/keyed-store.ts", value);
    plant(
      "shared/runs/key-type.ts",
      'import type { Owner } from "#shared/table/keys.ts";\n\nexport type Mine = Owner;\n',
    );
    plant("shared/runs/one.ts", 'import type { Two } from "./two.ts";\n\nexport type One = Two | 1;\n');
    plant("shared/runs/two.ts", 'import type { One } from "./one.ts";\n\nexport type Two = One | 2;\n');
    // Two folders import each other, and no file is part of a cycle.
    plant("shared/one/first.ts", "export type First = string;\n");
    plant("shared/two/second.ts", 'import type { First } from "../one/first.ts";\n\nexport type Second = First;\n');
    plant("shared/one/third.ts", 'import type { Second } from "../two/second.ts";\n\nexport type Third = Second;\n');
    result = await check("layers");
  });

  it("fails on an import against each arrow between folders, type imports included", () => {
    for (const [index, [rule, from, to]] of violations.entries()) {
      expectFailure(result, `${numbered(from, index)} → ${to}: ${rule}`);
    }
  });

  it("fails on a package that a folder may not use, and on an unresolved import", () => {
    for (const [index, [rule, from]] of packages.entries()) {
      expectFailure(result, `${numbered(from, violations.length + index)} → `, rule);
    }
  });

  it("fails on table keys outside of a store, a record or the wiring, unless only a type is imported", () => {
    expectFailure(result, "shared/runs/keyed.ts → shared/table/keys.ts: keys-are-for-stores");
    expectFailure(result, "functions/runs/keyed.ts → shared/table/keys.ts: keys-are-for-stores");
    expect(result.output).not.toMatch(/(keyed-store|records\/keyed|runs\/key-type)\.ts → .*keys-are-for-stores/);
  });

  it("fails on a cycle of files", () => {
    expectFailure(result, "shared/runs/one.ts → shared/runs/two.ts → shared/runs/one.ts: no-cycles");
  });

  it("fails on a cycle between two folders, although no file is part of one", () => {
    expectFailure(result, "shared/one", "shared/two", "no-cycles-between-folders");
  });
});

/** Copies all tracked and untracked files under `paths`, so that the check sees the present working tree. */
function copyWorkingTree(...paths: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "runyard-checks-"));
  const options = ["--cached", "--others", "--exclude-standard", "-z", "--", ...paths];
  const list = execFileSync("git", ["ls-files", ...options], { cwd: root });
  for (const file of list.toString("utf8").split("\0")) {
    if (file !== "" && existsSync(join(root, file))) {
      cpSync(join(root, file), join(folder, file), { recursive: true, force: true });
    }
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function plant(file: string, text: string, folder = copy): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (!planted.includes(path)) planted.push(path);
}

function check(name: string, folder = copy): Promise<CommandResult> {
  return runCommand(process.execPath, [join(folder, "scripts", "check.ts"), name]);
}

/** Expects all texts in the same line, so that a failure elsewhere does not count. */
function expectFailure({ exitCode, output }: CommandResult, ...texts: readonly string[]): void {
  expect(exitCode).toBe(1);
  const matching = output.split("\n").filter((line) => texts.every((text) => line.includes(text)));
  expect(matching, `no line has ${texts.join(" and ")} in:\n${output}`).not.toEqual([]);
}

function numbered(file: string, index: number): string {
  return file.replace(/\.ts$/, `-${index}.ts`);
}

function upwards(file: string): string {
  return "../".repeat(file.split("/").length - 1);
}
