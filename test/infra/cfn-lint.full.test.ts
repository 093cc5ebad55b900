import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { AwsSolutionsChecks } from "cdk-nag";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { acknowledge } from "#infra/acknowledgements.ts";
import { ensurePythonEnvironment } from "../../emulator/python-environment.ts";
import { repository, synthesize } from "./synthesize.ts";

const run = promisify(execFile);
const venv = join(repository, ".runyard", "cfn-lint");

/** Longer than Python and pip may take together. */
const INSTALL_MS = 420_000;

/** Longer than cfn-lint takes for a deployment on a busy machine; it needs 20 seconds of a processor. */
const LINT_MS = 600_000;

beforeAll(async () => {
  const requirements = join(import.meta.dirname, "cfn-lint-requirements.txt");
  const python = process.env["RUNYARD_PYTHON"] ?? "python3";
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
}, INSTALL_MS);

const Finding = v.object({
  Filename: v.string(),
  Message: v.string(),
  Rule: v.object({ Id: v.string() }),
  Location: v.object({ Path: v.array(v.union([v.string(), v.number()])) }),
});

/** Returns the errors of cfn-lint in templates, by the resource types and values of `regions`. */
async function lint(templates: readonly { readonly name: string; readonly template: object }[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-lint-"));
  try {
    for (const { name, template } of templates) writeFileSync(join(folder, `${name}.json`), JSON.stringify(template));
    return await lintFiles(templates.map(({ name }) => join(folder, `${name}.json`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function lintFiles(files: readonly string[]): Promise<string[]> {
  const args = ["--regions", "us-east-1", "--format", "json", "--non-zero-exit-code", "none"];
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await run(join(venv, "bin", "cfn-lint"), [...args, ...files], options);
  return v
    .parse(v.pipe(v.string(), v.parseJson(), v.array(Finding)), stdout)
    .filter(({ Rule }) => Rule.Id.startsWith("E"))
    .map(({ Filename, Rule, Location, Message }) => {
      return `${Rule.Id} ${basename(Filename)} ${Location.Path.join("/")}: ${Message}`;
    });
}

describe.each(["fresh-account", "default", "everything", "second-in-account", "closed", "restored"])(
  "the templates of infra/examples/%s.json",
  (name) => {
    const context = v.parse(
      v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string())),
      readFileSync(join(repository, "infra/examples", `${name}.json`), "utf8"),
    );

    it(
      "have no errors of cfn-lint",
      async () => {
        const { templates } = synthesize(context);
        expect(templates.length).toBeGreaterThan(10);
        expect(await lint(templates)).toEqual([]);
      },
      LINT_MS,
    );

    it("have no findings of cdk-nag without a reason", () => {
      const { app } = synthesize(context);
      acknowledge(app, context);
      expect(new AwsSolutionsChecks().validateScope(app).violations).toEqual([]);
    });
  },
);

describe("the template of examples/mail", () => {
  it("has no errors of cfn-lint", async () => {
    expect(await lintFiles([join(repository, "examples/mail/template.yaml")])).toEqual([]);
  });
});

describe("cfn-lint", () => {
  it("finds a property that no resource of the type has", async () => {
    const Properties = { TableName: 5, Color: "green" };
    const template = { Resources: { Table: { Type: "AWS::DynamoDB::Table", Properties } } };
    expect((await lint([{ name: "planted", template }])).join("\n")).toMatch(/E3002.*Color/);
  });
});
