import type { Page } from "playwright-core";

const MESSAGES = 5000;
const OUTPUT_BYTES = 10_000_000;
const RUNS = 10_000;

/** Gives a run 5,000 messages with 10 MB of output: commands, colored lines, Markdown and changes of files. */
export async function serveLongRun(page: Page, run: string): Promise<void> {
  const events = [{ sequence: 1, type: "messages", occurred_at: AT, data: { messages: longConversation() } }];
  await page.route(`**/agent/runs/${run}/events*`, (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get("after") ?? "0");
    return route.fulfill({ json: { events: after === 0 ? events : [], next: 1, ended: true } });
  });
}

const AT = "2026-05-18T19:00:00.000Z";

function longConversation(): unknown[] {
  const line = `\u001b[32m✓\u001b[0m ${"x".repeat(58)}\n`;
  const output = line.repeat(Math.ceil(OUTPUT_BYTES / (MESSAGES / 2) / line.length));
  const text =
    "I have looked at **all** callers:\n\n1. `parse` is safe\n2. `format` is not\n\n```ts\nformat(value);\n```";
  const diff = `--- a/src/parse.ts\n+++ b/src/parse.ts\n@@ -1,2 +1,2 @@\n-const a = 1;\n+const a = 2;\n const b = a;`;
  return Array.from({ length: MESSAGES / 2 }, (_, index) => {
    const id = `c${index}`;
    const tool =
      index % 5 === 4 ? { category: "files", name: "edit_files" } : { category: "command", name: "run_command" };
    const input =
      tool.name === "run_command" ? { command: `npm test -- --shard ${index}` } : { edits: [{ path: "src/parse.ts" }] };
    const action = { type: "action", id, ...tool, input };
    const said = index % 3 === 0 ? [{ type: "text", text }] : [];
    const result = {
      type: "action_result",
      action_id: id,
      ...tool,
      state: "completed",
      output: { exit_code: 0, stdout: output },
      ...(tool.name === "edit_files" ? { diff } : {}),
    };
    return [
      { role: "assistant", content: [...said, action] },
      { role: "tool", content: [result] },
    ];
  }).flat();
}

/** Gives the list 10,000 runs, in the pages that the app requests. */
export async function serveLongList(page: Page): Promise<void> {
  await page.route("**/agent/runs?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.has("updated_after")) return route.fulfill({ json: { runs: [], page_info: { has_next_page: false } } });
    const from = Number(query.get("cursor") ?? "0");
    const limit = Number(query.get("limit") ?? "100");
    const runs = Array.from({ length: limit }, (_, index) => listedRun(from + index));
    const has_next_page = from + limit < RUNS;
    return route.fulfill({
      json: { runs, page_info: { has_next_page, ...(has_next_page ? { next_cursor: String(from + limit) } : {}) } },
    });
  });
}

const STATES = ["SUCCEEDED", "FAILED", "SUCCEEDED", "CANCELLED", "SUCCEEDED"];

function listedRun(index: number) {
  const at = new Date(Date.parse(AT) - index * 60_000).toISOString();
  const state = STATES[index % STATES.length];
  return {
    run_id: `0199a0c4-0000-7000-8000-${String(index).padStart(12, "0")}`,
    title: `Run ${index} of the list`,
    prompt: "Update the dependencies.",
    state,
    created_at: at,
    updated_at: at,
    started_at: at,
    run_time: "PT12.5S",
    source: "API",
    creator: { type: "user", uid: "u1", display_name: "Ada Lovelace" },
    agent_config: { model_id: "anthropic/claude-sonnet" },
    request_usage: { inference_cost: 0.12, total_tokens: 12_000 },
    artifacts: [],
  };
}
