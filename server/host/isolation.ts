import path from "node:path";
import * as v from "valibot";
import { runCommand } from "./commands.ts";
import { isPackaged, projectRoot } from "./paths.ts";
import { Problem, red, say, step, warn } from "./terminal.ts";

const Holder = v.picklist(["kernel", "harness"]);
const Report = v.object({
  isolation: v.picklist(["bubblewrap", "bubblewrap-unfiltered", "none"]),
  network: v.boolean(),
  reason: v.exactOptional(v.string()),
  limits: v.exactOptional(v.object({ memory: Holder, disk: Holder, files: Holder, processes: Holder })),
});
export type IsolationReport = v.InferOutput<typeof Report>;

/** What isolates commands from this host. */
export interface DecidedIsolation {
  /** The value of RUNYARD_SANDBOX for harnesses. */
  readonly isolation: string;
  /** Whether isolated commands have a network. Undefined without a boundary. */
  readonly network?: boolean;
}

/** The variables that pass the decision to harnesses, and that the boundary was tried, so that they need not try it. */
export const toHarnessVariables = ({ isolation, network }: DecidedIsolation): Record<string, string> => ({
  RUNYARD_SANDBOX: isolation,
  ...(network === undefined ? {} : { RUNYARD_SANDBOX_TRIED: network ? "network" : "no-network" }),
});

/**
 * Lists the modes of a limited network that harnesses can keep. Without the filter of system calls, sockets exist that ignore the network
 * of the sandbox. Where commands have a network, the machine can also make the namespace that leads to a proxy.
 */
export function listNetworkLimits({ isolation, network }: DecidedIsolation): ("none" | "allowlist")[] {
  if (isolation !== "bubblewrap") return [];
  return network === true ? ["none", "allowlist"] : ["none"];
}

/** Modes that the operator chooses explicitly and that are never detected. */
const UNISOLATED = ["machine", "none"];

/**
 * Decides what isolates commands from this host, once for all runs until the service stops, and prints it.
 * @param setting value of RUNYARD_SANDBOX
 * @throws Problem if a boundary is demanded that does not work here
 */
export async function decideIsolation(setting: string | undefined): Promise<DecidedIsolation> {
  if (setting !== undefined && UNISOLATED.includes(setting)) {
    if (setting === "none") warnOfNoIsolation("RUNYARD_SANDBOX=none");
    return { isolation: setting };
  }
  const report = await step("isolation", async (note) => {
    const found = await findIsolation();
    note(found.isolation === "none" ? "none" : describe(found));
    return found;
  });
  const { isolation, network, reason } = report;
  if (setting && setting !== isolation) {
    throw new Problem(`RUNYARD_SANDBOX=${setting} does not work here: ${reason ?? `${isolation} does`}.`);
  }
  if (isolation === "none") warnOfNoIsolation(reason);
  else if (reason !== undefined) warn(`Commands' system calls are not filtered: ${reason}`);
  return { isolation, ...(isolation === "none" ? {} : { network }) };
}

const describe = ({ isolation, network }: IsolationReport): string =>
  `${isolation}, ${network ? "with" : "without"} a network`;

/** The directory of an execution, and how its harness is started in it. */
export interface TrialPlace {
  readonly folder: string;
  toCommand(command: readonly [string, ...string[]]): Promise<readonly [string, ...string[]]>;
}

/**
 * Isolates a command as the harness would, to find out what works here.
 * @param place @default the temporary directory
 */
export async function findIsolation(place?: TrialPlace): Promise<IsolationReport> {
  const program = isPackaged
    ? path.join(import.meta.dirname, "isolation.mjs")
    : path.join(projectRoot, "harness", "isolation-main.ts");
  const env = place === undefined ? process.env : { ...process.env, TMPDIR: place.folder };
  const plain = [process.execPath, program] as const;
  const [file, ...args] = place === undefined ? plain : await place.toCommand(plain);
  const { code, output } = await runCommand(file, args, { env, timeoutSeconds: 120 });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Report), output.trim().split("\n").at(-1));
  if (code === 0 && parsed.success) return parsed.output;
  return { isolation: "none", network: true, reason: output.trim().slice(-300) };
}

function warnOfNoIsolation(reason = "unknown"): void {
  const lines = [
    "ISOLATION: NONE",
    `There is no isolation boundary around the commands of runs: ${reason}.`,
    "They run as you. They can read and change all that you can, the API key of this service included.",
    process.platform === "linux"
      ? "Install bubblewrap (sudo apt-get install bubblewrap slirp4netns) and allow unprivileged user namespaces."
      : "bubblewrap exists for Linux only: run the service in a Linux VM to isolate runs.",
  ];
  for (const line of lines) say(red(line));
}
