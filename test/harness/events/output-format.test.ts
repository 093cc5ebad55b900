import { describe, expect, it } from "vitest";
import { addOutputFormat, readOutputFormat } from "#harness/session/output-format.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { Stage } from "../../agents/support/play.ts";
import { createClient } from "../../support/client.ts";
import { SONNET } from "../../support/gateway.ts";
import { agentRun } from "../support/agent-run.ts";

const output_schema = {
  type: "object",
  required: ["fixed"],
  properties: { fixed: { type: "boolean" } },
  additionalProperties: false,
};
const context = { mode: "normal" as const, agent_config: { output_schema } };
const prompt = { from: "prompt" as const, commandsDone: 0 };

describe("an agent's run with an output schema", () => {
  // @contract runs.config.output-value: The response of a run with an output_schema has structured, which is validated.
  it("is asked again with the errors, and shows the value of the response that fits", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Fix it.", config: { model_id: SONNET, output_schema } });
    await stage.execute([{ text: "I fixed it." }, { text: '```json\n{ "fixed": true }\n```' }]);
    expect(await stage.shown(run)).toMatchObject({ state: "SUCCEEDED" });
    expect(JSON.stringify(stage.models.seen[0]?.body.system)).toContain("additionalProperties");
    expect(JSON.stringify(stage.models.seen[1]?.body.messages)).toContain("the response is not JSON");
    const formats = stage.models.seen.map(({ body }) => body.output_config?.format);
    expect(formats, "tools are called before").toEqual([undefined, { type: "json_schema", schema: output_schema }]);
    const { body } = await createClient(stage.plane).get(`/agent/runs/${run}/response`);
    expect(body).toMatchObject({ structured: { fixed: true }, state: "SUCCEEDED" });
  });

  // @contract runs.config.output-retries: The agent is asked again at most twice when its response does not fit, then the run fails with invalid_request.
  it("ends FAILED with the first error when the third response does not fit either", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Fix it.", config: { model_id: SONNET, output_schema } });
    await stage.execute([{ text: "{}" }, { text: '{"fixed":1}' }, { text: '{"fixed":"yes"}' }]);
    const { state, status_message } = await stage.shown(run);
    expect(state).toBe("FAILED");
    expect(status_message).toMatchObject({
      error_code: "invalid_request",
      message: expect.stringMatching(/^config\.output_schema: .*#\/fixed: .*boolean/),
    });
    expect(stage.models.seen).toHaveLength(3);
    const { body } = await createClient(stage.plane).get(`/agent/runs/${run}/response`);
    expect(body).not.toHaveProperty("structured");
  });
});

it("a response that does not fit is asked for again by the next execution, if the first one was lost before it did", async () => {
  const messages: Message[] = [{ role: "assistant", content: [{ type: "text", text: "I fixed it." }] }];
  await using agent = await agentRun({
    prompt: "Fix it.",
    turns: [{ text: '{"fixed":true}' }],
    context: { messages, own_messages: 1, next_sequence: 2, agent_config: { output_schema } },
  });
  await agent.run();
  expect(agent.plane.outcome).toMatchObject({ success: true, summary: '{"fixed":true}' });
  expect(JSON.stringify(agent.asked(0))).toContain("the response is not JSON");
  expect(agent.standIn.seen).toHaveLength(1);
});

describe("an output format", () => {
  const wrong = { success: true, summary: "no" };

  it("counts the requests of an earlier execution", async () => {
    const first = await readOutputFormat(context, prompt);
    const review = [first?.review(wrong), first?.review(wrong)].at(-1);
    if (review === undefined || !("request" in review)) throw new Error("the second response is asked for again");
    const next = await readOutputFormat(context, { from: "followup", message: review.request, commandsDone: 0 });
    expect(next?.review(wrong)).toMatchObject({ ended: { success: false, error_code: "invalid_request" } });
  });

  it("lets a turn that failed, and a response that fits, end as they are", async () => {
    const format = await readOutputFormat(context, prompt);
    const failed = { success: false, summary: "no" };
    expect(format?.review(failed)).toEqual({ ended: failed });
    const fitting = { success: true, summary: '{"fixed":false}' };
    expect(format?.review(fitting)).toEqual({ ended: fitting });
  });

  it("exists neither for a plan nor without a schema", async () => {
    expect(await readOutputFormat({ ...context, mode: "plan" }, prompt)).toBeUndefined();
    expect(await readOutputFormat({ mode: "normal", agent_config: {} }, prompt)).toBeUndefined();
    expect(addOutputFormat("Be brief.", { mode: "normal", agent_config: {} })).toBe("Be brief.");
    expect(addOutputFormat("Be brief.", context)).toMatch(/^Be brief\.\n\n[\s\S]*"fixed"/);
  });
});
