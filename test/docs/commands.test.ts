import { readFileSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { startService, type TestService } from "../support/service.ts";
import { type Block, PAGES, readBlocks } from "./pages.ts";
import { type Outcome, runBlocks } from "./session.ts";

const blocks = PAGES.flatMap(readBlocks);
const shell = blocks.filter(({ language }) => ["sh", "bash", "shell", "console"].includes(language));
/** Languages whose blocks hold no commands. Those of clients are run by test/clients. */
const OTHERS = ["ts", "js", "python", "json", "yaml", "toml", "mermaid", "text", "markdown"];

/** The variables that the job of docs/ci.md has. */
const JOB = { "run.json": JSON.stringify({ prompt: "```sh\necho said\n```" }) };

describe("the fenced blocks of the documentation", () => {
  it("name a language", () => {
    const known = new Set([...OTHERS, "sh"]);
    expect(blocks.filter(({ language }) => !known.has(language)).map(place)).toEqual([]);
  });

  it("have a line for each command", () => {
    // A comment in the middle of a line that names another command is a sign of lines that were joined.
    const joined = shell.filter(({ text }) =>
      /#[^\n"']*\b(npx|curl|call|export) /.test(text.replaceAll(/^#.*$/gm, "")),
    );
    expect(joined.map(place)).toEqual([]);
  });

  it("are listed in design/testing.md if their commands are not run", () => {
    const page = readFileSync(path.join(root, "design/testing.md"), "utf8");
    const rows = [...page.matchAll(/^\| `skip=([a-z-]+)` \| [^|]* \| ([^|]*) \|$/gm)];
    const listed = rows.flatMap(([, reason, pages = ""]) =>
      [...pages.matchAll(/`([^`]+)`/g)].map(([, name]) => `${reason} ${name}`),
    );
    const skipped = new Set(shell.flatMap(({ page: name, skip }) => (skip === undefined ? [] : [`${skip} ${name}`])));
    expect(listed.sort()).toEqual([...skipped].sort());
  });

  it("have the test commands that CI runs", () => {
    const block = readBlocks("README.md").find(({ text }) => text.includes("install-test-tools"));
    const commands = block?.text.split(/\n| && /).flatMap((line) => line.replace(/ +#.*/, "") || []);
    const ci = readFileSync(path.join(root, ".ci/run"), "utf8").replace(" --silent", "");
    expect(commands).toHaveLength(4);
    expect(commands?.filter((command) => !ci.includes(`\n${command}`))).toEqual([]);
  });
});

describe("the commands of the documentation", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const pages = [...new Set(shell.filter(({ skip }) => skip === undefined).map(({ page }) => page))];
  const [preamble] = readBlocks("README.md").filter(({ text }) => text.includes("alias call="));

  it.each(pages)("of %s have the documented result", async (page) => {
    const own = shell.filter((block) => block.page === page && block.skip === undefined);
    // Other pages use what the README has defined.
    const needsPreamble = page !== "README.md" && own.some(({ text }) => text.includes("$RUNYARD/"));
    const before = needsPreamble && preamble !== undefined ? [preamble] : [];
    const earlier = new Set((await listRuns(service)).map(({ run_id: id }) => id));
    const outcomes = await runBlocks(service, [...before, ...own], {
      environment: { RUNYARD_BASE_URL: service.baseUrl, RUNYARD_API_KEY: service.apiKey, JOB: "docs" },
      files: JOB,
    });
    for (const outcome of outcomes) expectShown(outcome);
    const expected = own.flatMap(({ ends }) => ends).toSorted();
    await expect
      .poll(async () => {
        const made = (await listRuns(service)).filter(({ run_id: id }) => !earlier.has(id));
        return made.flatMap(({ state }) => (state === "SUCCEEDED" ? [] : [state])).toSorted();
      }, ENDS_WITHIN)
      .toEqual(expected);
  });
});

const Runs = v.object({ runs: v.array(v.object({ run_id: v.string(), state: v.string() })) });

/** The runs of the service, without those that their callers execute. */
async function listRuns({ baseUrl, apiKey }: TestService): Promise<v.InferOutput<typeof Runs>["runs"]> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseUrl}/agent/runs?execution_location=REMOTE&archived=all&limit=500`, { headers });
  return v.parse(Runs, await response.json()).runs;
}

/** Runs of the examples end within seconds. */
const ENDS_WITHIN = { timeout: 60_000, interval: 200 };

/** Checks that the block completed without errors, and printed what its comments show. */
function expectShown({ block, isComplete, stdout, stderr }: Outcome): void {
  const context = `${place(block)}\n${block.text}\n--- printed:\n${stdout}${stderr}`;
  expect(isComplete, context).toBe(true);
  expect(stdout, context).not.toContain('"error_code":');
  for (const pattern of shownOutputs(block)) expect(stdout, context).toMatch(pattern);
}

/** Comments on lines of their own show output; an ellipsis stands for text that differs each time. */
const shownOutputs = ({ text }: Block): RegExp[] =>
  [...text.matchAll(/^# (.*)$/gm)].map(
    ([, shown = ""]) =>
      new RegExp(
        shown
          .split("…")
          .map((part) => RegExp.escape(part))
          .join("[\\s\\S]*"),
      ),
  );

const place = ({ page, line }: Block): string => `${page}:${line}`;
