import type { RunContext } from "#harness/setup/run-context.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import type { Turn } from "../../support/model-shapes.ts";
import type { SeenCall } from "../../support/model-stand-in.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { type Harness, runHarness, startHarness } from "./run-harness.ts";

const SONNET = "anthropic/claude-sonnet-5-5";

export interface AgentGiven {
  readonly prompt: string;
  /** The model's responses, in order. */
  readonly turns: readonly (Turn | ((call: SeenCall) => Turn))[];
  /** @default an Anthropic model */
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly context?: Partial<RunContext>;
}

/** A run of an agent with a language model; the test scripts the control plane and the model. */
export async function agentRun({ prompt, turns, model = SONNET, systemPrompt, context }: AgentGiven) {
  const standIn = await ModelStandIn.start();
  standIn.turns.push(...turns);
  const agent_config = { ...context?.agent_config, model_id: model };
  const plane = await FakeControlPlane.start({
    prompt,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    context: { ...context, agent_config },
  });
  plane.modelUrl = standIn.anthropicUrl;
  return {
    plane,
    standIn,
    /** Runs one execution to its end. */
    run: (environment: Record<string, string> = {}) => runHarness(plane, environment),
    start: (environment: Record<string, string> = {}): Harness => startHarness(plane, environment),
    /** The messages of a request to Anthropic's API, as the model received them. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
    asked: (index: number): any[] => standIn.seen.at(index)?.body.messages,
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]();
      await standIn[Symbol.asyncDispose]();
    },
  };
}

export const use = (name: string, input: unknown) => ({ name, input });
export const command = (text: string): Turn => ({ tools: [use("run_command", { command: text })] });
