import { describe, expect, it } from "vitest";
import { agentRun } from "../support/agent-run.ts";

/** The tools of the contract, and the additions of this project. */
const NAMES = [
  "run_command",
  "read_files",
  "edit_files",
  "search_files",
  "call_mcp_tool",
  "create_plan",
  "ask_user",
  "start_agent",
  "report_artifact",
];
const ADDED = [
  ...[
    "create_pull_request",
    "glob",
    "load_skill",
    "message_agent",
    "notify_user",
    "todo",
    "wait_for_agents",
    "web_fetch",
  ],
  ...["read_command", "write_command", "stop_command"],
];

describe("the tools of an agent", () => {
  // @contract runs.conversation.actions: The other actions have the names of the contract.
  it("have exactly the names of the contract and the documented ones, and the definitions of tools.txt (`-u` after a change)", async () => {
    await using it = await agentRun({
      prompt: "Say hello.",
      turns: [{ text: "Hello." }],
      context: { mcp_servers: { shared: { warp_id: "x" } } },
    });
    await it.run();
    const offered: string[] = it.standIn.seen[0]?.body.tools.map(({ name }: { name: string }) => name);
    expect(offered).toEqual(expect.arrayContaining(NAMES));
    expect(offered.filter((name) => !NAMES.includes(name) && !ADDED.includes(name))).toEqual([]);
    const definitions: { name: string }[] = it.standIn.seen[0]?.body.tools;
    const lines = definitions.toSorted((one, other) => one.name.localeCompare(other.name));
    await expect(`${JSON.stringify(lines, null, 2)}\n`).toMatchFileSnapshot("tools.txt");
  });

  it("are limited to read-only ones in plan mode", async () => {
    await using it = await agentRun({ prompt: "Plan it.", turns: [{ text: "# Plan" }], context: { mode: "plan" } });
    await it.run();
    const offered: string[] = it.standIn.seen[0]?.body.tools.map(({ name }: { name: string }) => name);
    expect(offered.toSorted()).toEqual([
      "ask_user",
      "create_plan",
      "glob",
      "notify_user",
      "read_files",
      "report_artifact",
      "search_files",
      "todo",
      "wait_for_agents",
      "web_fetch",
    ]);
  });
});
