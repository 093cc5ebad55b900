import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { quoteForShell } from "../commands/shell-quote.ts";
import { startLaunch } from "../isolation/launch.ts";
import { killTree } from "../isolation/processes.ts";
import type { RootLayer, Sandbox, Shell } from "../isolation/sandbox.ts";
import { buildEtcScript } from "../setup/image-etc.ts";
import { reportStep } from "../setup/report-step.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { findThirdPartyAgent } from "../third-party/agents.ts";
import type { ResolvedRun } from "./resolved-run.ts";
import type { SessionChannel, SessionContext } from "./session-context.ts";

/** A pull and the unpacking of its image may take so long each. */
const PULL_MS = 15 * 60_000;

/**
 * Lets the commands of the run execute in the image of its environment, which is pulled if it is not on this machine. The sandbox of a
 * machine of its own is a container of the image already.
 * @throws SetupError
 */
export async function enterImage(
  session: SessionContext,
  run: ResolvedRun,
  { outbox, slice }: SessionChannel,
): Promise<ResolvedRun> {
  const reference = run.context.docker_image;
  if (reference === undefined || run.sandbox.kind === "machine") return run;
  const [{ openImage }, { readImageSettings }] = await Promise.all([
    import("../images/open-image.ts"),
    import("../images/image-settings.ts"),
  ]);
  const { signal } = session.stop;
  const open = async () => {
    const settings = readImageSettings();
    if (settings === undefined || run.sandbox.kind !== "bubblewrap")
      throw new SetupError("the environment has a docker_image, which needs bubblewrap on this machine");
    const { harness } = run.context.agent_config;
    if (findThirdPartyAgent(harness) !== undefined)
      throw new SetupError(`the harness ${harness?.type} does not run in a docker_image on this machine`);
    const timeoutMs = Math.max(1, Math.min(PULL_MS, slice.deadlineAt - Date.now()));
    const image = await openImage(reference, {
      ...{ settings, runId: session.envelope.run_id, timeoutMs, signal },
      secret: run.registryCredentials,
      redact: session.redactor.add,
    });
    const variables = parseVariables(image.env);
    const { root, digest } = image;
    const opened = await openLayer(run.sandbox, root);
    const layer = typeof opened === "string" ? undefined : opened;
    const base = { root, variables, ...(layer === undefined ? {} : { layer }) };
    const close = async () => await layer?.close();
    const found = await probe(run.enter({ ...base, shell: "sh" }), run, image.working_directory).catch(
      async (error: unknown) => {
        await close();
        signal.throwIfAborted();
        throw new SetupError(`docker_image ${reference}: ${formatError(error)}`);
      },
    );
    const absent = [
      ...(found.shell === "sh" ? ["it has no bash, so commands run in sh"] : []),
      ...(found.hasGit ? [] : ["it has no git"]),
      ...(typeof opened === "string" ? [`its files cannot be changed here: ${opened}`] : []),
    ];
    const sandbox = run.enter({ ...base, shell: found.shell });
    const start = found.directory === undefined ? {} : { directory: found.directory };
    return {
      run: { ...run, sandbox, image: { digest, close, ...start } },
      detail: [image.detail, ...absent].join("; "),
    };
  };
  const step = { start: `image ${reference}`, end: ({ detail }: Awaited<ReturnType<typeof open>>) => detail };
  return (await reportStep(outbox, "setup_environment_resolution", step, open)).run;
}

/** Lets commands change the files of the image. @returns why they cannot */
const openLayer = async ({ openRoot }: Sandbox, root: string): Promise<RootLayer | string> =>
  openRoot === undefined ? "the sandbox has no overlay" : await openRoot(root).catch(formatError);

/** The names of variables that the harness sets. */
const OWN = /^RUNYARD_/;

const parseVariables = (env: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    env.flatMap((variable) => {
      const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(variable) ?? [];
      return name === "" || OWN.test(name) ? [] : [[name, value]];
    }),
  );

const PROBE_MS = 20_000;
const PROBE = "probe-image.sh";

interface Probed {
  readonly shell: Shell;
  readonly hasGit: boolean;
  /** Where the image says that commands start, if it is there. */
  readonly directory: string | undefined;
}

/** Runs a command in the image to see what it has. */
async function probe(
  sandbox: Sandbox,
  { workspace }: Pick<ResolvedRun, "workspace">,
  directory: string | undefined,
): Promise<Probed> {
  const script = [
    ...(sandbox.layer === undefined ? [] : [buildEtcScript(sandbox.nameServer)]),
    "if /bin/bash -c : 2>/dev/null; then echo has bash; fi",
    "if command -v git >/dev/null; then echo has git; fi",
    ...(directory === undefined || directory === "/"
      ? []
      : [`if cd -- ${quoteForShell(directory)} 2>/dev/null; then echo has directory; fi`]),
    "echo is done",
    "",
  ].join("\n");
  await writeFile(join(workspace.paths.steps, PROBE), script, { mode: 0o444 });
  const trial = startLaunch(sandbox.launch(PROBE, {}));
  let output = "";
  for (const stream of trial.output) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(0, 2_000);
    });
  }
  const timer = setTimeout(() => void killTree(trial.process.pid, undefined), PROBE_MS);
  await once(trial.process, "close").finally(() => clearTimeout(timer));
  if (!output.includes("is done")) {
    const why = /execvp \/bin\/sh: No such file/.test(output) ? "it has no /bin/sh, which commands need" : undefined;
    throw new Error(why ?? `commands cannot run in it: ${output.trim() || "its /bin/sh did not start"}`);
  }
  return {
    shell: output.includes("has bash") ? "bash" : "sh",
    hasGit: output.includes("has git"),
    directory: output.includes("has directory") ? directory : undefined,
  };
}
