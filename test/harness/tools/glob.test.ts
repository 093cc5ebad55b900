import { describe, expect, it } from "vitest";
import { createGlobTool, toExpression } from "#harness/tools/glob.ts";
import { agentRun, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

describe("toExpression", () => {
  const matches = (glob: string, ...paths: string[]) =>
    paths.filter((path) => new RegExp(toExpression(glob)).test(path));

  it.each([
    ["*.ts", ["a.ts", "b/c.ts"], ["a.tsx", "ats"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "lib/src/a.ts"]],
    ["./src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts"]],
    ["src/**", ["src/a", "src/b/c"], ["src"]],
    ["{a,b}?.[jt]s", ["a1.js", "d/b2.ts"], ["a.js", "a1.cs", "c1.js"]],
    ["[!a]+(b).md", ["x+(b).md"], ["a+(b).md"]],
  ])("matches %s with the paths that it means", (glob, matching, others) => {
    expect(matches(glob, ...matching, ...others)).toEqual(matching);
  });
});

describe("glob", () => {
  it("finds files by name, without those that git ignores, and says when there are more", async () => {
    using repository = new Repository("things", {
      ".gitignore": "made/\n",
      ...{ "src/a.ts": "", "src/deep/b.ts": "", "src/c.md": "", "made/d.ts": "" },
    });
    await using it = await agentRun({
      prompt: "Find.",
      turns: [
        { tools: [use("glob", { pattern: "src/**/*.ts" })] },
        { tools: [use("glob", { pattern: "*", path: "src", limit: 2 })] },
        { tools: [use("glob", { pattern: "*.py" })] },
        { tools: [use("glob", { pattern: "*", path: "nowhere" })] },
        { text: "Found." },
      ],
      context: { agent_config: { repositories: [{ url: repository.url }] } },
    });
    await it.run();
    expect(it.plane.results).toEqual([
      { matches: ["src/a.ts", "src/deep/b.ts"] },
      { matches: ["src/a.ts", "src/c.md"], cut: "there are more than 2 matches" },
      { matches: [] },
      { error: expect.stringContaining("nowhere") },
    ]);
  });

  it("uses find where ripgrep is missing", async () => {
    const scripts: string[] = [];
    const result = {
      command: "",
      workingDirectory: "/",
      exitCode: 0,
      timedOut: false,
      durationMs: 1,
      truncated: false,
    };
    const shell = {
      checkAside: () => {},
      runAside: async (script: string) => {
        scripts.push(script);
        return { ...result, text: "b/a.ts\n" };
      },
    };
    const found = await createGlobTool(shell).run(
      { pattern: "*.ts", path: "x y" },
      { id: "1", signal: new AbortController().signal },
    );
    expect(found).toEqual({ output: { matches: ["x y/b/a.ts"] } });
    expect(scripts[0]).toMatch(/cd -- 'x y' .*else find \. .* \| grep -E -e .* \| head -n 101; fi/);
  });
});

describe("todo", () => {
  it("replaces the list, which the conversation shows", async () => {
    const items = [
      { task: "Look", state: "done" },
      { task: "Write", state: "in_progress" },
    ];
    await using it = await agentRun({
      prompt: "Work.",
      turns: [{ tools: [use("todo", { items })] }, { text: "Done." }],
    });
    await it.run();
    expect(it.plane.results).toEqual([{ done: 1, open: 1 }]);
    const blocks = it.plane.messages.flatMap(({ content }) => content);
    expect(blocks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: "action",
          name: "todo",
          title: "Update the to-do list (2 items)",
          input: { items },
        }),
        expect.objectContaining({ type: "action_result", name: "todo", summary: "1 done, 1 open" }),
      ]),
    );
  });
});
