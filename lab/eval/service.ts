import { spawn } from "node:child_process";
import path from "node:path";
import * as v from "valibot";
import { Runyard } from "../../clients/typescript/src/index.ts";
import { readJson } from "../../server/host/files.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { Problem } from "../../server/host/terminal.ts";
import { endCloud, untilReady } from "../bench/cloud.ts";
import { onInterrupt } from "../bench/interruption.ts";

const LocalState = v.object({ base_url: v.string(), api_key: v.string() });

/** A service of the evaluation's own, as `npm start` starts it. */
export interface EvalService extends AsyncDisposable {
  readonly client: Runyard;
}

/** @param settings the providers of models, as variables of the service */
export async function startService(data: string, settings: Readonly<Record<string, string>>): Promise<EvalService> {
  const program = path.join(projectRoot, "server/command/serve.ts");
  const port = await firstFreePort(4950);
  const child = spawn(process.execPath, [program, "--data", data, "--no-sample", "--port", String(port)], {
    cwd: projectRoot,
    // The keys of this process reach the service by its settings alone.
    env: { PATH: process.env["PATH"], HOME: data, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const cancel = onInterrupt(() => endCloud(child));
  const stop = () => endCloud(child).finally(cancel);
  try {
    await untilReady(child);
    const local = await readJson(path.join(data, "local.json"), LocalState);
    if (local === undefined) throw new Problem("The service left no address.");
    return {
      client: new Runyard({ apiKey: local.api_key, baseURL: local.base_url }),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
