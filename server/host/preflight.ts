import { findProgram, runCommand } from "./commands.ts";
import { Problem } from "./terminal.ts";

export interface Host {
  platform: NodeJS.Platform;
  searchPath: string;
  /** Value of RUNYARD_PYTHON. */
  python?: string | undefined;
}

export interface Preflight {
  /** Program and version of the Python that makes the emulator's environment. */
  python: string;
  pythonVersion: string;
  /** One sentence for each tool that is missing but not needed for a start. */
  warnings: string[];
}

export interface Tool {
  program: string;
  apt: string;
  brew?: string;
  /** What works worse without it; a tool without this sentence is required. */
  without?: string;
  only?: NodeJS.Platform;
}

/** What agents' commands can rely on in a sandbox, and what isolates them. */
const SANDBOX_TOOLS: Tool[] = [
  { program: "git", apt: "git", brew: "git" },
  { program: "tar", apt: "tar", brew: "gnu-tar" },
  { program: "bash", apt: "bash", brew: "bash" },
  { program: "rg", apt: "ripgrep", brew: "ripgrep", without: "agents search files more slowly" },
  { program: "bwrap", apt: "bubblewrap", only: "linux", without: "agents' commands run without isolation" },
  {
    program: "slirp4netns",
    apt: "slirp4netns",
    only: "linux",
    without: "agents' commands behind bubblewrap have no network",
  },
  { program: "ip", apt: "iproute2", only: "linux", without: "agents' commands behind bubblewrap have no network" },
];

const OLDEST_PYTHON: readonly [number, number] = [3, 10];
const PYTHON_NAMES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/** Checks everything that a start needs from the host, and reports all that is missing together. */
export async function preflight(host: Host): Promise<Preflight> {
  if (host.platform === "win32") {
    throw new Problem("Native Windows is not supported: run this inside WSL2.");
  }
  const missing = await findMissingTools(host);
  const required = missing.filter((tool) => tool.without === undefined);
  const python = await findPython(host);
  const complaints = required.map((tool) => `${tool.program} is missing`);
  if (typeof python === "string") complaints.push(python);
  if (typeof python === "string" || required.length > 0) {
    const packages = required.map((tool) => packageOf(tool, host.platform));
    if (typeof python === "string") packages.push(...pythonPackages(host.platform));
    throw new Problem(`${complaints.join("; ")}.`, [`Install with:  ${installLine(packages, host.platform)}`]);
  }
  return {
    ...python,
    warnings: formatWarnings(missing, host.platform),
  };
}

/**
 * Checks the programs that agents' commands need.
 * @returns a sentence for each missing tool that is not required, and the line that installs them
 * @throws Problem naming the required tools that are missing
 */
export async function checkTools(host: Pick<Host, "platform" | "searchPath">): Promise<string[]> {
  if (host.platform === "win32") throw new Problem("Native Windows is not supported: run this inside WSL2.");
  const missing = await findMissingTools(host);
  const required = missing.filter((tool) => tool.without === undefined);
  if (required.length === 0) return formatWarnings(missing, host.platform);
  const packages = required.map((tool) => packageOf(tool, host.platform));
  throw new Problem(`${required.map((tool) => `${tool.program} is missing`).join("; ")}.`, [
    `Install with:  ${installLine(packages, host.platform)}`,
  ]);
}

/** What is limited without a tool, and one line that installs all missing tools. */
function formatWarnings(missing: Tool[], platform: NodeJS.Platform): string[] {
  if (missing.length === 0) return [];
  const packages = missing.map((tool) => packageOf(tool, platform));
  return [
    ...missing.map((tool) => `${tool.program} is missing: ${tool.without}`),
    `Install with:  ${installLine(packages, platform)}`,
  ];
}

/** The programs that agents' commands rely on and that are not installed. */
export async function findMissingTools(host: Pick<Host, "platform" | "searchPath">): Promise<Tool[]> {
  const tools = SANDBOX_TOOLS.filter((tool) => tool.only === undefined || tool.only === host.platform);
  const found = await Promise.all(tools.map((tool) => findProgram(tool.program, host.searchPath)));
  return tools.filter((_, index) => found[index] === undefined);
}

/** The Python to use, or a sentence that says why there is none. */
async function findPython(host: Host): Promise<{ python: string; pythonVersion: string } | string> {
  const names = host.python ? [host.python] : PYTHON_NAMES;
  let complaint = host.python ? `RUNYARD_PYTHON names ${host.python}, which is not there` : "python3 is missing";
  for (const name of names) {
    const program = await findProgram(name, host.searchPath);
    if (program === undefined) continue;
    const verdict = await judgePython(program);
    if (typeof verdict !== "string") return verdict;
    if (complaint.endsWith("missing") || host.python) complaint = verdict;
  }
  return complaint;
}

async function judgePython(program: string): Promise<{ python: string; pythonVersion: string } | string> {
  const version = await runCommand(program, ["-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], {
    timeoutSeconds: 20,
  });
  const match = /^(\d+)\.(\d+)\.\d+$/m.exec(version.output);
  if (version.code !== 0 || match === null) return `${program} does not run`;
  const [found, major, minor] = match;
  if (Number(major) !== OLDEST_PYTHON[0] || Number(minor) < OLDEST_PYTHON[1]) {
    return `${program} is Python ${found}, and ${OLDEST_PYTHON.join(".")} or later is needed`;
  }
  const venv = await runCommand(program, ["-c", "import venv, ensurepip"], { timeoutSeconds: 20 });
  if (venv.code !== 0) return `${program} (${found}) cannot make virtual environments: its venv package is missing`;
  return { python: program, pythonVersion: found };
}

const packageOf = (tool: Tool, platform: NodeJS.Platform): string =>
  platform === "darwin" ? (tool.brew ?? tool.apt) : tool.apt;

const pythonPackages = (platform: NodeJS.Platform): string[] =>
  platform === "darwin" ? ["python"] : ["python3", "python3-venv"];

/** The line that installs programs. */
export const installTools = (tools: readonly Tool[], platform: NodeJS.Platform): string =>
  installLine(
    tools.map((tool) => packageOf(tool, platform)),
    platform,
  );

const installLine = (packages: string[], platform: NodeJS.Platform): string =>
  `${platform === "darwin" ? "brew install" : "sudo apt-get install"} ${packages.join(" ")}`;
