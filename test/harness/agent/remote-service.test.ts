import { describe, expect, it } from "vitest";
import { Stage } from "../../agents/support/play.ts";
import { createClient } from "../../support/client.ts";
import { SONNET } from "../../support/gateway.ts";
import { command, use } from "../support/agent-run.ts";

const TOKEN = "token-of-the-tracker-0001";

describe("an agent that uses the service's API", () => {
  it("creates artifacts of every kind, and notifies its user", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Show me.", config: { model_id: SONNET } });
    const pull = { url: "https://github.com/acme/things/pull/7", branch: "fix" };
    const issue = { reference_type: "issue", url: "https://tracker.test/T-1", title: "Flaky" };
    await stage.execute([
      { tools: [use("create_plan", { title: "Plan", content: "# One" })] },
      command("printf PNG > page.png; printf a,b > numbers.csv"),
      { tools: [use("report_artifact", { artifact_type: "SCREENSHOT", path: "page.png" })] },
      { tools: [use("report_artifact", { artifact_type: "FILE", path: "numbers.csv", title: "Numbers" })] },
      { tools: [use("report_artifact", { artifact_type: "PULL_REQUEST", ...pull })] },
      { tools: [use("report_artifact", { artifact_type: "EXTERNAL_REFERENCE", ...issue })] },
      { tools: [use("report_artifact", { artifact_type: "PULL_REQUEST", ...pull, url: "http://github.com/" })] },
      { tools: [use("notify_user", { message: "Nearly done." })] },
      { tools: [use("create_plan", { title: "Plan", content: "# Two" })] },
      { text: "All is shown." },
    ]);
    const { state, artifacts } = await stage.shown(run);
    expect(state).toBe("SUCCEEDED");
    const shown = Object.fromEntries(
      artifacts.map(({ artifact_type, data }: { artifact_type: string; data: object }) => [artifact_type, data]),
    );
    expect(artifacts).toHaveLength(5);
    expect(shown).toMatchObject({
      PLAN: { document_uid: run, title: "Plan" },
      SCREENSHOT: { mime_type: "image/png" },
      FILE: { filepath: "numbers.csv", title: "Numbers", size_bytes: 3 },
      PULL_REQUEST: pull,
      EXTERNAL_REFERENCE: issue,
    });
    const user = createClient(stage.plane);
    const plan = await user.get(`/agent/artifacts/${shown["PLAN"].artifact_uid}`);
    expect(plan.body.data.content).toBe("# Two");
    const results = (await stage.blocks(run)).filter(({ type }) => type === "action_result");
    expect(results[6]).toMatchObject({ state: "failed", output: { error: expect.stringContaining("data.url") } });
    expect(await stage.transcript(run)).toContain("Nearly done.");
  });

  it("delegates a part to another agent, and gets its messages and artifacts", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Have it counted.", config: { model_id: SONNET, budget_usd: 1 } });
    await stage.execute([
      { tools: [use("start_agent", { prompt: "Count to three.", title: "Count", budget_usd: 0.5, wait: false })] },
      { text: "It is under way." },
    ]);
    const [started] = (await stage.blocks(run)).filter(({ type }) => type === "action_result");
    const child = String(Object(started?.["output"]).run_id);
    await stage.execute([command('echo 123 > "$RUNYARD_OUTPUT/count.txt"'), { text: "One, two, three." }]);
    expect(await stage.shown(child)).toMatchObject({ state: "SUCCEEDED", parent_run_id: run, source: "ORCHESTRATION" });
    const user = createClient(stage.plane);
    await user.post(`/agent/runs/${run}/followups`, { message: "And?" });
    await stage.execute([{ tools: [use("wait_for_agents", { run_ids: [child] })] }, { text: "It counted." }]);
    const [, waited] = (await stage.blocks(run)).filter(({ type }) => type === "action_result");
    expect(waited?.["output"]).toMatchObject({
      agents: [
        {
          run_id: child,
          title: "Count",
          state: "SUCCEEDED",
          text: "One, two, three.",
          artifacts: [{ artifact_type: "FILE", filename: "count.txt" }],
        },
      ],
    });
    const { steps } = (await user.get(`/agent/runs/${run}/conversation`)).body;
    expect(steps[0].steps, "the child is a step within the step that started it").toMatchObject([{ id: child }]);
  });

  it("uses a server whose values stay hidden, from the configuration to the transcript", async () => {
    await using stage = await Stage.make();
    const printer =
      "process.stdin.on('data', (d) => { for (const l of String(d).split('\\n').filter(Boolean)) answer(JSON.parse(l)); });";
    const responses = `const answer = ({ id, method, params }) => { if (id === undefined) return;
      const result = method === "initialize" ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : method === "tools/list" ? { tools: [{ name: "token", inputSchema: { type: "object" } }] }
        : { content: [{ type: "text", text: "it is " + process.env.TRACKER_TOKEN }] };
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n"); };`;
    const tracker = { command: "node", args: ["-e", responses + printer], env: { TRACKER_TOKEN: TOKEN } };
    const run = await stage.create({ prompt: "Ask it.", config: { model_id: SONNET, mcp_servers: { tracker } } });
    await stage.execute([
      { tools: [use("call_mcp_tool", { server: "tracker", tool: "token" })] },
      { text: "I know it." },
    ]);
    expect((await stage.shown(run)).state).toBe("SUCCEEDED");
    const [result] = (await stage.blocks(run)).filter(({ type }) => type === "action_result");
    expect(result).toMatchObject({ name: "call_mcp_tool", output: { text: "it is ***" } });
    const user = createClient(stage.plane);
    const paths = ["", "/timeline", "/events?after=0", "/conversation", "/response"];
    const bodies = await Promise.all(paths.map(async (path) => (await user.get(`/agent/runs/${run}${path}`)).body));
    const texts = [JSON.stringify(bodies), await stage.transcript(run), stage.log, JSON.stringify(stage.models.seen)];
    expect(texts.map((text) => text.includes(TOKEN))).toEqual([false, false, false, false]);
    expect(texts[1]).toContain("it is ***");
    expect(texts[0]).toContain('"setup_mcp_servers"');
    expect(stage.server.seen.filter(({ text }) => text.includes(TOKEN))).toEqual([]);
  });
});
