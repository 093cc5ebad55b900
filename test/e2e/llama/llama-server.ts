import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import * as v from "valibot";
import { ensurePythonEnvironment } from "../../../emulator/python-environment.ts";
import { projectRoot } from "../../../server/host/paths.ts";
import { firstFreePort } from "../../../server/host/ports.ts";

const Slots = v.array(v.looseObject({ id: v.number(), is_processing: v.boolean() }));

const Tokenized = v.object({ tokens: v.array(v.number()) });

/** llama.cpp's own server with a small model, whose template has no place for tools. */
export interface LlamaServer extends AsyncDisposable {
  /** It ends in /v1. */
  readonly url: string;
  /** How many calls it is working on. */
  readonly countBusy: () => Promise<number>;
  /** One of its metrics, such as `tokens_predicted_total`. */
  readonly readMetric: (name: string) => Promise<number>;
  readonly countTokens: (text: string) => Promise<number>;
}

/** The context window in tokens of each of its two slots: a little more than the agent's instructions have. */
export const WINDOW = 6_144;

/** @param mode with "reasoning-only", all of its responses are reasoning without a text. @default it responds as the model does */
export async function startLlamaServer(...mode: readonly "reasoning-only"[]): Promise<LlamaServer> {
  const program = path.join(await installLlama(), "bin", "python");
  const port = await firstFreePort(18_400);
  const child = spawn(program, [path.join(import.meta.dirname, "serve.py"), `${port}`, `${2 * WINDOW}`, ...mode], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errorOutput: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => errorOutput.push(chunk.toString()));
  const address = await Promise.race([
    once(createInterface(child.stdout), "line").then(([line]) => String(line)),
    once(child, "exit").then(() => undefined),
  ]);
  if (address === undefined) throw new Error(`the server of the model ended:\n${errorOutput.join("")}`);
  const read = async (name: string) => (await fetch(`${address}${name}`)).text();
  return {
    url: `${address}/v1`,
    countBusy: async () =>
      v.parse(Slots, JSON.parse(await read("/slots"))).filter(({ is_processing }) => is_processing).length,
    readMetric: async (name) => Number(new RegExp(`^llamacpp:${name} (.*)$`, "m").exec(await read("/metrics"))?.[1]),
    countTokens: async (content) => {
      const response = await fetch(`${address}/tokenize`, { method: "POST", body: JSON.stringify({ content }) });
      return v.parse(Tokenized, await response.json()).tokens.length;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Returns the virtual environment with exactly the packages of requirements.txt. Creates it if there is none. */
async function installLlama(): Promise<string> {
  const venv = path.join(projectRoot, ".runyard", "llama");
  const python = process.env["RUNYARD_PYTHON"] ?? "python3";
  const requirements = path.join(import.meta.dirname, "requirements.txt");
  await ensurePythonEnvironment(venv, python, new AbortController().signal, requirements);
  return venv;
}
