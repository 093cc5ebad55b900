import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { lastLines, runCommand } from "../server/host/commands.ts";
import { projectRoot } from "../server/host/paths.ts";

/** AWS's Runtime Interface Emulator, a module of Go without tags. Go compares it with the checksum database of its modules. */
const EMULATOR = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie";
const VERSION = "v0.0.0-20261030222936-bef5c4ba774d";
/** The Go that it needs. Go 1.21 and later download it by themselves, and an older Go as a module. */
const TOOLCHAIN = "go1.26.6";
/** The packages of its client, with their checksums. */
const PACKAGES = path.join(import.meta.dirname, "runtime-interface");
/** In the draft: what only the build of the emulator needs. */
const TOOLCHAIN_FOLDER = "toolchain";
const INSTALL = "Run: bash scripts/install-test-tools.sh";

/** Lambda's two ends of the Runtime API on this machine. */
export interface RuntimeInterface {
  /** The program that plays Lambda. */
  readonly emulator: string;
  /** The module that Lambda starts Node with: it loads a handler and gives it the invocations. */
  readonly client: string;
}

/**
 * Returns both, built once and kept next to the local cloud's state. Only modules of Go and packages of npm are downloaded. The
 * client's own installation would download the headers of Node, so its native part, which uses no more than those of Node-API, is
 * compiled here.
 */
export async function fetchRuntimeInterface(): Promise<RuntimeInterface> {
  const home = path.join(projectRoot, ".runyard", "runtime-interface");
  const client = `${process.platform}-${process.arch}-${process.versions.modules}`;
  const folder = path.join(home, `${VERSION}-${client}`);
  if ((await readdir(folder).catch(() => [])).length === 0) {
    await requireBuilders();
    await mkdir(home, { recursive: true });
    const draft = await mkdtemp(path.join(home, "draft-"));
    try {
      await Promise.all([buildEmulator(draft), buildClient(draft)]);
      await rm(path.join(draft, TOOLCHAIN_FOLDER), { recursive: true, force: true });
      // Another process may have built the same meanwhile.
      await rename(draft, folder).catch(async (error: unknown) => {
        if ((await readdir(folder).catch(() => [])).length === 0) throw error;
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return {
    emulator: path.join(folder, "aws-lambda-rie"),
    client: path.join(folder, "node_modules/aws-lambda-ric/index.mjs"),
  };
}

async function requireBuilders(): Promise<void> {
  for (const [name, argument] of [
    ["go", "version"],
    ...["cmake", "g++", "make", "xz"].map((one) => [one, "--version"]),
  ]) {
    if (name === undefined || argument === undefined) continue;
    const { code } = await runCommand(name, [argument], { timeoutSeconds: 60 }).catch(() => ({ code: 127 }));
    if (code !== 0) throw new Error(`The Runtime Interface Emulator and its client need ${name}. ${INSTALL}`);
  }
}

async function buildEmulator(draft: string): Promise<void> {
  const go = await findGo(draft);
  // Without a root of another Go.
  const own = { GOROOT: "", GOBIN: draft, GOFLAGS: "-mod=mod", GOTOOLCHAIN: "auto", CGO_ENABLED: "0" };
  const env = { ...process.env, ...own };
  await build(go, ["install", `${EMULATOR}@${VERSION}`], { cwd: draft, env });
}

/** The Go of this machine, or the one that it downloads if it is too old to do that by itself. */
async function findGo(draft: string): Promise<string> {
  const { output } = await runCommand("go", ["env", "GOVERSION"], { timeoutSeconds: 60 });
  const [, minor = "0"] = /go1\.(\d+)/.exec(output) ?? [];
  if (Number(minor) >= 21) return "go";
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const module = `golang.org/toolchain@v0.0.1-${TOOLCHAIN}.${process.platform}-${architecture}`;
  const env = { ...process.env, GOMODCACHE: path.join(draft, TOOLCHAIN_FOLDER), GOFLAGS: "-modcacherw" };
  await build("go", ["mod", "download", module], { cwd: draft, env });
  const folder = path.join(draft, TOOLCHAIN_FOLDER, module);
  // A module has no executable files.
  const tools = path.join(folder, "pkg/tool", `${process.platform}_${architecture}`);
  for (const bin of [path.join(folder, "bin"), tools])
    for (const name of await readdir(bin)) await chmod(path.join(bin, name), 0o755);
  return path.join(folder, "bin/go");
}

async function buildClient(draft: string): Promise<void> {
  for (const file of ["package.json", "package-lock.json"])
    await copyFile(path.join(PACKAGES, file), path.join(draft, file));
  await build("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: draft });
  const packages = path.join(draft, "node_modules");
  const client = path.join(packages, "aws-lambda-ric");
  // The libraries of its native part are in the package, as sources.
  await build("sh", [path.join(client, "scripts/preinstall.sh")], { cwd: client });
  // It includes these headers without using what is in them.
  const unused = path.join(draft, "headers");
  await mkdir(unused);
  for (const name of ["uv.h", "v8.h", "node.h"]) await writeFile(path.join(unused, name), "");
  const built = path.join(client, "deps/artifacts");
  const headers = [unused, path.join(packages, "node-api-headers/include"), path.join(packages, "node-addon-api")];
  await build(
    "g++",
    [
      ...["-O2", "-fPIC", "-shared", "-std=c++17", "-DNAPI_CPP_EXCEPTIONS"],
      ...[...headers, path.join(built, "include")].map((folder) => `-I${folder}`),
      path.join(client, "src/native/rapid-client.cc"),
      ...["libaws-lambda-runtime.a", "libcurl.a"].map((name) => path.join(built, "lib", name)),
      ...["-pthread", "-o", path.join(client, "rapid-client.node")],
    ],
    { cwd: draft },
  );
  await rm(path.join(client, "deps"), { recursive: true });
}

async function build(
  program: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  const { code, output } = await runCommand(program, args, { ...options, timeoutSeconds: 900 });
  if (code !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${lastLines(output, 20).join("\n")}`);
}
