import { parseFlags, parseInteger, UsageError } from "../../server/command/usage.ts";
import { chooseProvider } from "../agent-try/providers.ts";
import { OTHER_AGENTS } from "./other-agent.ts";

export const HELP = `npm run lab -- eval [--model <id>] [options]

Executes the tasks of lab/eval/tasks by agents of a service of its own, in the sandbox that this machine has. A task is a small git
repository, a prompt, and a checker that the agent does not get. The patch of each run is applied to the repository as it was, and
the checker decides whether it passes.

Without --model, a scripted model executes each task, which needs no key: that tests the service, its agent's tools and the checkers,
which must refuse the repository as it was and with plausible mistakes. It says nothing about models.

  --model          anthropic/claude-sonnet-5-5, openai/gpt-5.4, compatible/qwen3, …
  --url            the address of the server of a compatible/ model, before /v1
  --prices         dollars for a million tokens of input and output, such as 0.5/2, of a model whose price is not known
  --task           a task's name; repeat it for several (default: all)
  --repeats        executions of each task, 1 to 100 (default: 1)
  --concurrency    executions at a time, 1 to 16 (default: 2)
  --max-steps      model responses per execution (default: 100)
  --timeout        minutes per execution (default: 30)
  --beside         mini-swe-agent: executes each task with that agent and the same model as well. Its commands run on this machine
                   without isolation, as it does by default: use a machine or container that holds nothing else
  --out            a directory for results.md, results.json and everything that the agents left (default: .runyard/eval/<time>)
  --list           lists the tasks and ends
  --help           this text

The key comes from ANTHROPIC_API_KEY, OPENAI_API_KEY or, where the server wants one, COMPATIBLE_API_KEY; the provider bills the calls
to it. Exit code: 0 if every execution passed, 1 if one did not, 2 if nothing was executed.`;

export interface EvalOptions {
  /** Undefined for the scripted model. */
  readonly model: string | undefined;
  readonly url: string | undefined;
  readonly prices: string | undefined;
  readonly tasks: readonly string[];
  readonly repeats: number;
  readonly concurrency: number;
  readonly maxSteps: number;
  readonly timeoutMinutes: number;
  readonly beside: (typeof OTHER_AGENTS)[number] | undefined;
  readonly out: string | undefined;
  readonly list: boolean;
  readonly help: boolean;
}

/** @throws UsageError that names the option */
export function parseOptions(args: readonly string[]): EvalOptions {
  const { values } = parseFlags(args, {
    model: { type: "string" },
    url: { type: "string" },
    prices: { type: "string" },
    task: { type: "string", multiple: true, default: [] },
    repeats: { type: "string", default: "1" },
    concurrency: { type: "string", default: "2" },
    "max-steps": { type: "string", default: "100" },
    timeout: { type: "string", default: "30" },
    beside: { type: "string" },
    out: { type: "string" },
    list: { type: "boolean", default: false },
  });
  const beside = OTHER_AGENTS.find((name) => name === values.beside);
  if (values.beside !== undefined && beside === undefined)
    throw new UsageError(`--beside takes ${OTHER_AGENTS.join(", ")}, not "${values.beside}"`);
  for (const name of ["url", "prices", "beside"] as const)
    if (values[name] !== undefined && values.model === undefined) throw new UsageError(`--${name} needs --model`);
  if (values.prices !== undefined && !/^\d+(\.\d+)?\/\d+(\.\d+)?$/.test(values.prices))
    throw new UsageError(`--prices takes two numbers such as 0.5/2, not "${values.prices}"`);
  return {
    ...{ model: values.model, url: values.url, prices: values.prices, tasks: values.task, beside, out: values.out },
    repeats: parseInteger("--repeats", values.repeats, 100) ?? 1,
    concurrency: parseInteger("--concurrency", values.concurrency, 16) ?? 1,
    maxSteps: parseInteger("--max-steps", values["max-steps"], 10_000) ?? 1,
    timeoutMinutes: parseInteger("--timeout", values.timeout, 1_440) ?? 1,
    list: values.list,
    help: values.help === true,
  };
}

/** How the service and other agents call a model. */
export interface ModelAccess {
  /** Variables of the service. */
  readonly settings: Readonly<Record<string, string>>;
  /** The model as LiteLLM names it, and its variables. */
  readonly litellm: { readonly model: string; readonly variables: Readonly<Record<string, string>> };
}

/** Reads the key of a model from the environment. @throws Error that says what is missing */
export function chooseAccess(
  { model, url, prices }: { model: string; url: string | undefined; prices: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): ModelAccess {
  const provider = chooseProvider({ model, url, environment });
  const [name = "", ...rest] = model.split("/");
  const id = rest.join("/");
  const priced: Record<string, string> = prices === undefined ? {} : { RUNYARD_MODEL_PRICES: `${model}=${prices}` };
  if (name === "compatible") {
    const key = environment["COMPATIBLE_API_KEY"];
    const base = `${provider.url.replace(/\/v1$/, "")}/v1`;
    return {
      settings: {
        RUNYARD_COMPATIBLE_BASE_URL: base,
        RUNYARD_COMPATIBLE_MODELS: id,
        ...(key === undefined ? {} : { RUNYARD_COMPATIBLE_API_KEY: key }),
        ...priced,
      },
      litellm: { model: `openai/${id}`, variables: { OPENAI_API_BASE: base, OPENAI_API_KEY: key ?? "none" } },
    };
  }
  if (url !== undefined) throw new UsageError(`--url is for compatible/ models, not for ${model}`);
  const variable = name === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  const key = environment[variable] ?? "";
  return {
    settings: { [`RUNYARD_${variable}`]: key, ...priced },
    litellm: { model, variables: { [variable]: key } },
  };
}
