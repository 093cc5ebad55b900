import { existsSync, lstatSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createDevices } from "./devices.ts";
import type { Limits } from "./limits.ts";
import type { Network } from "./network.ts";
import type { ProcessGroup } from "./process-group.ts";
import { openRootLayer } from "./root-layer.ts";
import {
  BASH_OPTIONS,
  buildCommandEnvironment,
  type MakeSandbox,
  type Sandbox,
  type SandboxImage,
  type SandboxOptions,
  type Shell,
  type WorkspacePaths,
} from "./sandbox.ts";
import { buildSeccompFilter } from "./seccomp.ts";

export interface BubblewrapOptions {
  /** Absolute path of bwrap. */
  readonly bwrap: string;
  /** The network namespace that commands share. @default each command has its own empty one */
  readonly network: Network | undefined;
  /** A directory that commands cannot write, for the generated files of /etc. */
  readonly etc: string;
  /** The process group that limits memory and the number of processes. @default the limits of the user apply */
  readonly group: ProcessGroup | undefined;
  /** How much of the machine commands may use. */
  readonly limits: Limits;
  /** Whether system calls are filtered, which not every kernel supports. */
  readonly filtered: boolean;
}

/** Paths in the sandbox, which do not show the paths of the host. */
const INSIDE: WorkspacePaths = {
  workspace: "/workspace",
  home: "/home/agent",
  tmp: "/tmp",
  output: "/workspace/output",
  steps: "/run/runyard",
};
/** The directory of additional programs of a run. */
const PROGRAMS = "/opt/programs";
/** What commands have changed in the root of their image, as scripts of the harness see it. */
const LAYER = "/layer";
const UID = "1000";
const NODE_PREFIX = "/opt/node";
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const PATH = `${NODE_PREFIX}/bin:${SYSTEM_PATH}`;

/** The files of /etc that programs need; other files may contain secrets of the host. */
const ETC_FILES =
  /^(ld\.so\.(cache|conf|conf\.d)|os-release|lsb-release|debian_version|shells|alternatives|ca-certificates|pki|localtime|mime\.types|magic|protocols|services|terminfo|perl|python3.*|java.*|maven)$/;
const ETC_SSL = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf"];

/**
 * Runs each command in a separate bwrap: with its own user, mount, PID, IPC, UTS and network namespaces, no capabilities, an empty
 * environment, and read-only access to the programs of the host. `--die-with-parent` ends the process tree with the harness, and the PID
 * namespace ends it with the command: a process cannot escape by setsid or a double fork, and no process outlives its command. A background
 * command is a bwrap that the harness does not wait for. One bwrap for all commands would need a second program inside that starts commands
 * and reports their exit, which commands could tamper with.
 */
export async function createBubblewrapSandbox(options: BubblewrapOptions): Promise<MakeSandbox> {
  const { bwrap, etc, group, limits, filtered } = options;
  writeEtc(etc, options.network);
  const devices = await createDevices(etc);
  const filters = filtered ? { agent: buildSeccompFilter(), root: buildSeccompFilter({ actsAsRoot: true }) } : {};
  const boundary = [
    ...["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--hostname", "runyard"],
  ];
  const hostPrograms = bindPrograms();
  const mountAll = (image: SandboxImage | undefined) => [
    ...mountRoot(etc, image),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...Object.entries(devices).flatMap(([name, node]) => ["--dev-bind", node, `/dev/${name}`]),
  ];
  const make = (run: SandboxOptions): Sandbox => {
    const { host, runId, marker, secrets = {}, programs: shared, limited, providers, image, changes } = run;
    const layer = image?.layer;
    const network = limited === undefined ? options.network : limited.network;
    if (limited !== undefined) writeEtc(etc, network);
    const shell = image?.shell ?? "bash";
    // First, since the variables of the run replace them.
    const start = [...formatVariables(image?.variables ?? {}), ...mountAll(image)];
    const environment = {
      ...buildCommandEnvironment(INSIDE, runId, providers),
      ...limited?.variables,
      SHELL: `/bin/${shell}`,
      ...(layer === undefined ? {} : { USER: "root", LOGNAME: "root" }),
      PATH: image === undefined ? PATH : (image.variables["PATH"] ?? SYSTEM_PATH),
    };
    const isShared = shared !== undefined && image === undefined;
    const places = [
      ...(layer === undefined ? bindDirectories(host, changes) : []),
      // On disk: files in a memory file system would count towards no process.
      ...["--bind", host.tmp, "/dev/shm"],
      // If the harness runs as root, its commands could otherwise change files of the kernel.
      ...["--remount-ro", "/proc", "--remount-ro", "/dev"],
      ...(isShared ? ["--ro-bind", shared, PROGRAMS] : []),
      ...(layer === undefined ? ["--remount-ro", "/"] : []),
      ...["--chdir", INSIDE.workspace, ...formatVariables(environment)],
    ];
    const uid = layer === undefined ? UID : "0";
    const filter = layer === undefined ? filters.agent : filters.root;
    const bwrapOptions = [
      ...[...boundary, "--uid", uid, "--gid", uid, ...(image === undefined ? hostPrograms : [])],
      ...(network === undefined ? ["--unshare-net"] : []),
      ...(filter === undefined ? ["--args", "4"] : ["--seccomp", "4", "--args", "5"]),
    ];
    const { enter } = layer ?? network ?? {};
    return {
      kind: "bubblewrap",
      paths: INSIDE,
      node: process.execPath.startsWith("/usr/") ? process.execPath : `${NODE_PREFIX}/bin/node`,
      shell,
      programs: isShared ? PROGRAMS : undefined,
      network: limited === undefined ? network !== undefined : limited.leadsOut,
      nameServer: network?.nameServer,
      sharesNetwork: network !== undefined,
      contained: true,
      limits,
      ...(image === undefined ? {} : { helpers: make({ ...withoutImage(run), changes: layer?.changes }) }),
      ...(layer === undefined ? {} : { layer: { ...layer, seen: LAYER } }),
      openRoot: (root) => openRootLayer({ image: root, host, folder: join(dirname(host.workspace), "layer"), network }),
      ...(group === undefined ? {} : { countKills: () => group.countKills(), freeze: group.freeze }),
      launch(script, variables = secrets, isLimited = true) {
        // Programs in the sandbox can read the arguments of bubblewrap, but neither secrets nor paths of this machine.
        const hidden = [...start, ...formatVariables(variables), ...places];
        const command = [bwrap, ...bwrapOptions, "--", ...formatShell(shell), join(INSIDE.steps, script)] as const;
        const inNamespaces = enter === undefined ? command : ([...enter, ...command] as const);
        const [file, ...args] =
          group === undefined || !isLimited ? inNamespaces : ([...group.enter, ...inNamespaces] as const);
        return { file, args, env: { ...marker }, cwd: "/", hidden, ...(filter === undefined ? {} : { filter }) };
      },
    };
  };
  return make;
}

const mountRoot = (etc: string, image: SandboxImage | undefined): string[] => {
  if (image === undefined) return bindEtc(etc);
  // It has the directories of the run already.
  if (image.layer !== undefined) return ["--bind", image.layer.root, "/"];
  // Its files include directories and files to mount at, since nothing can be created in them.
  return ["--ro-bind", image.root, "/", ...bindGeneratedEtc(etc)];
};

const bindDirectories = ({ tmp, home, workspace, steps }: WorkspacePaths, changes: string | undefined): string[] => [
  ...["--bind", tmp, INSIDE.tmp, "--bind", home, INSIDE.home, "--bind", workspace, INSIDE.workspace],
  ...["--ro-bind", steps, INSIDE.steps, ...(changes === undefined ? [] : ["--bind", changes, LAYER])],
];

const withoutImage = ({ image: _, ...options }: SandboxOptions): SandboxOptions => options;

const formatVariables = (variables: Readonly<Record<string, string>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]);

/** The shell and its options, which end a script at the first command that fails. */
export const formatShell = (shell: Shell): readonly [string, ...string[]] =>
  shell === "bash" ? ["/bin/bash", ...BASH_OPTIONS] : ["/bin/sh", "-e"];

/** Binds /usr and related directories, and the Node of this harness if it is not below /usr. */
export function bindPrograms(): string[] {
  const roots = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].filter((path) => existsSync(path));
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...roots.flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
    ),
    ...["--ro-bind-try", "/nix/store", "/nix/store"],
    ...bindNode(process.execPath),
  ];
}

function bindNode(node: string): string[] {
  if (node.startsWith("/usr/")) return [];
  const npm = join(dirname(dirname(node)), "lib/node_modules/npm");
  const own = ["--ro-bind", node, `${NODE_PREFIX}/bin/node`];
  if (!existsSync(npm)) return own;
  const link = (name: string) => [
    "--symlink",
    `../lib/node_modules/npm/bin/${name}-cli.js`,
    `${NODE_PREFIX}/bin/${name}`,
  ];
  return [...own, "--ro-bind", npm, `${NODE_PREFIX}/lib/node_modules/npm`, ...link("npm"), ...link("npx")];
}

function bindEtc(etc: string): string[] {
  const shared = readdirSync("/etc")
    .filter((name) => ETC_FILES.test(name))
    .map((name) => join("/etc", name));
  return [...[...shared, ...ETC_SSL].flatMap((path) => ["--ro-bind-try", path, path]), ...bindGeneratedEtc(etc)];
}

const bindGeneratedEtc = (etc: string): string[] =>
  [...Object.keys(GENERATED_ETC), "resolv.conf"].flatMap((name) => ["--ro-bind", join(etc, name), join("/etc", name)]);

const GENERATED_ETC = {
  passwd: `root:x:0:0:root:/root:/bin/bash\nagent:x:${UID}:${UID}:agent:${INSIDE.home}:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  group: `root:x:0:\nagent:x:${UID}:\nnogroup:x:65534:\n`,
  hosts: "127.0.0.1 localhost runyard\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
};

function writeEtc(etc: string, network: Network | undefined): void {
  const files = {
    ...GENERATED_ETC,
    "resolv.conf": network?.nameServer === undefined ? "" : `nameserver ${network.nameServer}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(etc, name), text);
}
