import { parseArgs } from "node:util";
import * as v from "valibot";
import { AWS_SANDBOXES, type AwsSandbox } from "#shared/wire/executions/sandboxes.ts";
import { type Api, callApi } from "../server/host/api.ts";
import { dim, green, Problem, red, say, seconds, yellow } from "../server/host/terminal.ts";
import { runByHand } from "./by-hand.ts";
import { ATTEMPT, FACTS, HOSTILE, type Observed, observed, Started } from "./observed-run.ts";
import { createProbeSecret, type Finding, findRefusals, PROBE_SECRET, readWithoutKey } from "./try-sandbox-probes.ts";

const HELP = `Usage: npm run aws -- try-sandbox --provider ${AWS_SANDBOXES.join("|")} [options]

Starts three runs in a sandbox of a deployed service, by its API: one prints what the sandbox is like and ends by itself, one is
cancelled while it works, and the commands of one attack the harness, print a secret in other forms and end with one that fails. A key reads
the second run until it is deleted. Sends the service addresses and URLs that it must refuse. Prints what was observed. The exit code is 0
where all went as they should, in the sandbox that was named.

  --provider NAME   the kind of sandbox that the runs are to get
  --image IMAGE     the image of the environment, for fargate (default: public.ecr.aws/docker/library/python:3.13-slim-bookworm)
  --base-url URL    the service's address, which ends in /api/v1 (default: RUNYARD_BASE_URL)
  --help            show this text

RUNYARD_API_KEY holds an admin's key to it. \`npm run aws -- bootstrap\` makes the first one of a deployment.
The deployment has to have the sandbox:  npx cdk deploy --all -c sandboxes=microvm,lambda,fargate   (docs/sandboxes.md)`;

const IMAGE = "public.ecr.aws/docker/library/python:3.13-slim-bookworm";
/** Milliseconds that a run may take from its beginning to its end. */
const RUN_MS = 600_000;

interface Options {
  readonly provider: AwsSandbox;
  readonly image: string;
  readonly api: Api;
}

/** Tries one kind of sandbox on a deployed service; `env` is where address and key come from. */
export async function trySandbox(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = readOptions(args, env);
  if (options === undefined) {
    say(HELP);
    return 0;
  }
  const { api, provider } = options;
  await reach(api);
  const environment = provider === "fargate" ? await makeEnvironment(options) : undefined;
  try {
    const whole = await run(options, environment, FACTS);
    let findReaders = async (): Promise<Finding[]> => [];
    const stopped = await run(options, environment, ATTEMPT, {
      beforeCancel: async (runId, after) => {
        findReaders = await readWithoutKey(api, runId, after, "run_cancelled");
      },
    });
    const secret = await createProbeSecret(api);
    const hostile = await run(options, environment, HOSTILE, { secrets: [{ name: PROBE_SECRET }] }).finally(
      secret.remove,
    );
    const findings = [secret.find(hostile.printed), ...(await findReaders()), ...(await findRefusals(api))];
    return report(provider, { whole, stopped, hostile }, findings);
  } finally {
    if (environment !== undefined) {
      await callApi(api, "DELETE", `/agent/environments/${environment}`, v.unknown()).catch(() => undefined);
    }
  }
}

function readOptions(args: string[], env: NodeJS.ProcessEnv): Options | undefined {
  const text = { type: "string" } as const;
  let values: { provider?: string; image?: string; "base-url"?: string; help?: boolean };
  try {
    const flags = { provider: text, image: text, "base-url": text, help: { type: "boolean" } } as const;
    values = parseArgs({ args, options: flags }).values;
  } catch (error) {
    throw new Problem(error instanceof Error ? error.message : String(error), [HELP]);
  }
  if (values.help === true) return undefined;
  const provider = AWS_SANDBOXES.find((name) => name === values.provider);
  if (provider === undefined) throw new Problem(`--provider takes one of ${AWS_SANDBOXES.join(", ")}.`, [HELP]);
  const baseUrl = (values["base-url"] ?? env["RUNYARD_BASE_URL"])?.replace(/\/$/, "");
  if (!baseUrl) {
    throw new Problem("There is no deployment to check: set RUNYARD_BASE_URL or pass --base-url.", [
      "The address is the output BaseUrl of the stack Runyard-Api.",
    ]);
  }
  const key = env["RUNYARD_API_KEY"];
  if (!key) {
    throw new Problem("The API key of the deployment is missing: set RUNYARD_API_KEY.", [
      "`npm run aws -- bootstrap --email ADDRESS` makes the first one, with your AWS credentials.",
    ]);
  }
  return { provider, image: values.image ?? IMAGE, api: { baseUrl, key } };
}

/** The address must respond, and accept the key. */
async function reach(api: Api): Promise<void> {
  await callApi(api, "GET", "/agent/me", v.unknown()).catch((error: unknown) => {
    if (error instanceof Problem && / 401/.test(error.message)) {
      throw new Problem(`${api.baseUrl} does not know the key in RUNYARD_API_KEY.`, [error.message]);
    }
    throw new Problem(`There is no deployment at ${api.baseUrl}.`, [String(error)]);
  });
}

async function makeEnvironment({ api, image }: Options): Promise<string> {
  const name = `try-sandbox-${Date.now()}`;
  const Made = v.object({ uid: v.string() });
  return (await callApi(api, "POST", "/agent/environments", Made, { name, docker_image: image })).uid;
}

interface RunOptions {
  /** @default none */
  readonly secrets?: readonly { readonly name: string }[];
  readonly beforeCancel?: (runId: string, after: number) => Promise<void>;
}

async function run(
  { api }: Options,
  environment: string | undefined,
  work: typeof FACTS,
  { secrets, ...following }: RunOptions = {},
): Promise<Observed> {
  say(dim(work.title));
  const config = {
    model_id: "local/runbook",
    ...(environment === undefined ? {} : { environment_id: environment }),
    ...(secrets === undefined ? {} : { secrets }),
  };
  const { run_id } = await callApi(api, "POST", "/agent/runs", Started, { ...work, config });
  return observed(run_id, { api, cancels: work === ATTEMPT, timeoutMs: RUN_MS, ...following });
}

interface Runs {
  readonly whole: Observed;
  readonly stopped: Observed;
  readonly hostile: Observed;
}

function report(provider: AwsSandbox, { whole, stopped, hostile }: Runs, findings: readonly Finding[]): number {
  const wrapper = hostile.printed.some((line) => line.includes("__runyard"));
  const lines: readonly Finding[] = [
    ["sandbox", `${whole.provider}, ${provider} was asked for`, whole.provider === provider],
    ["first run", `${whole.state}${whole.why === undefined ? "" : `: ${whole.why}`}`, whole.state === "SUCCEEDED"],
    ["waited in the queue", span(whole.queuedMs), true],
    ["until the sandbox called", span(whole.startMs), true],
    ["until the agent began", span(whole.beganMs), true],
    ["whole run", span(whole.wholeMs), true],
    ["second run", stopped.state, stopped.state === "CANCELLED"],
    [
      "stopped after the cancel",
      `${span(stopped.stopMs)}, confirmed by ${stopped.stoppedBy === undefined ? "nobody" : `the ${stopped.stoppedBy}`}`,
      stopped.stoppedBy !== undefined,
    ],
    ["hostile run", hostile.state, hostile.state === "FAILED"],
    ["… saw the harness's program", wrapper ? "yes" : "no", !wrapper],
    ...findings,
  ];
  say();
  for (const [name, value, isRight] of lines) say(`${isRight ? green("✓") : red("✗")} ${name.padEnd(38)} ${value}`);
  if (whole.provider !== provider) say(yellow(REMEDIES[provider]));
  say();
  for (const line of whole.printed) say(dim(line));
  return lines.every(([, , isRight]) => isRight) ? 0 : 1;
}

const REMEDIES: Readonly<Record<AwsSandbox, string>> = {
  lambda: "Name lambda first, or nothing, in the context `sandboxes` of the deployment.",
  microvm: "Name microvm first in the context `sandboxes` of the deployment, in a region that has MicroVMs.",
  fargate: "Name fargate in the context `sandboxes` of the deployment.",
};

const span = (milliseconds: number | undefined): string =>
  milliseconds === undefined ? "never" : seconds(milliseconds);

if (import.meta.main) {
  await runByHand(async (args) => {
    process.exitCode = await trySandbox(args, process.env);
  });
}
