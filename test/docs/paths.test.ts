import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { findBrokenReferences } from "./references.ts";

const Manifest = v.object({ scripts: v.record(v.string(), v.string()) });
const manifest = v.parse(Manifest, JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")));
const scripts = Object.keys(manifest.scripts);
const pages = [
  ...["README.md", "CONTRIBUTING.md", "AGENTS.md"],
  ...globSync("{docs,design}/**/*.md", { cwd: root, exclude: ["docs/cli.md"] }).sort(),
  ...globSync("lab/*.md", { cwd: root }).sort(),
];
/** The table of former paths. */
const FORMER = /^## Where files moved\n[\s\S]*?(?=^## )/m;

describe("the pages of the repository", () => {
  it.each(pages)("refer only to what exists: %s", (page) => {
    const text = readFileSync(path.join(root, page), "utf8").replace(FORMER, "");
    expect(findBrokenReferences(page, text, { root, scripts })).toEqual([]);
  });
});

describe("the search for broken references", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "runyard-pages-"));
    for (const name of ["docs", "scripts"]) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, "docs/runs.md"), "# Runs\n\n## When it ends: `SUCCEEDED`\n");
    writeFileSync(path.join(folder, "scripts/test.ts"), "");
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const find = (text: string) => findBrokenReferences("docs/page.md", text, { root: folder, scripts: ["test", "aws"] });

  it.each([
    "[runs](runs.md), [the root](../docs) and [a site](https://example.com/missing.md)",
    "[runs](runs.md#when-it-ends-succeeded)",
    "`scripts/test.ts`, `docs/*.md`, `docs/`, `docs/‹name›.md`, `local/runbook` and `GET /agent/runs`",
    "`npm run test`, `npm run --silent test`, `npm run aws -- redrive ends`, `npm run test -- VERB`",
    "```sh\nnpm run test\n[not](a-link.md) `docs/none.md`\n```",
  ])("finds nothing in %j", (text) => {
    expect(find(text)).toEqual([]);
  });

  it.each([
    ["[runs](missing.md)", "missing.md"],
    ["[runs](docs/runs.md)", "docs/runs.md"],
    ["[runs](runs.md#when-it-begins)", "runs.md#when-it-begins"],
    ["`scripts/missing.ts`", "scripts/missing.ts"],
    ["`docs/*.txt`", "docs/*.txt"],
    ["`npm run tests`", "npm run tests"],
    ["`npm run aws -- rescue`", "npm run aws -- rescue"],
    ["```sh\nnpm run bench:all\n```", "npm run bench:all"],
  ])("finds %j", (text, reference) => {
    expect(find(text)).toEqual([reference]);
  });
});
