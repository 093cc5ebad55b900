import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { lastLines, runCommand } from "../server/host/commands.ts";
import { readJson } from "../server/host/files.ts";
import { type LocalPaths, projectRoot, toDisplayPath } from "../server/host/paths.ts";
import { Problem } from "../server/host/terminal.ts";
import { ACCOUNT, REGION } from "./account.ts";
import { ROUTE_CONCURRENCY } from "./concurrency-limiter.ts";
import type { EmulatorAccess } from "./emulator-access.ts";
import { readNote, writeNote } from "./emulator-calls.ts";

export interface DeploymentSettings {
  /** Public address of the API, ending in /api/v1. */
  baseUrl: string;
  webUrl: string;
  /** Queue addresses in the functions' settings hold it. */
  emulatorPort: number;
  /** Addresses of what stands in for systems outside, and the id of the GitHub App. @default the systems themselves, without an App */
  systems?: Readonly<Record<string, string>>;
  /** Seconds that a sandbox may take, so that runs of several slices need not be long. @default as on AWS */
  sandboxSeconds?: string;
  /** Seconds within which the execution of a run that a worker claimed must begin. @default as on AWS */
  workerClaimSeconds?: string;
  /** Settings of the model providers. @default none */
  models?: Readonly<Record<string, string>>;
}

/** The outputs of the stacks, by stack and output name. */
export const StackOutputs = v.record(v.string(), v.record(v.string(), v.string()));
export type StackOutputs = v.InferOutput<typeof StackOutputs>;

const DeploymentNote = v.object({ fingerprint: v.string(), outputs: StackOutputs });
const NOTE_NAME = "/runyard/local/deployment";

/** Everything in the checkout that determines the deployment. */
const SOURCES = ["infra", "functions", "shared", "harness", "cdk.json", "package-lock.json"];

/** What is deployed in the emulator already, if it was made from these very sources and settings. */
export async function currentDeployment(
  access: EmulatorAccess,
  fingerprint: string,
): Promise<StackOutputs | undefined> {
  const text = await readNote(access, NOTE_NAME);
  if (text === undefined) return undefined;
  const note = v.safeParse(v.pipe(v.string(), v.parseJson(), DeploymentNote), text);
  return note.success && note.output.fingerprint === fingerprint ? note.output.outputs : undefined;
}

/** Deploys the CDK app, the same one as for AWS, and notes in the emulator's own state what it was made from. */
export async function deploy(
  access: EmulatorAccess,
  paths: LocalPaths,
  settings: DeploymentSettings,
  fingerprint: string,
  signal: AbortSignal,
): Promise<StackOutputs> {
  const outputsFile = path.join(paths.home, "outputs.json");
  await rm(paths.assembly, { recursive: true, force: true });
  const { baseUrl, webUrl, sandboxSeconds = "", workerClaimSeconds = "" } = settings;
  const stage = {
    stage: "local",
    baseUrl,
    webUrl,
    dispatchConcurrency: ROUTE_CONCURRENCY,
    sandboxSeconds,
    workerClaimSeconds,
  };
  const context = { ...stage, ...settings.systems, ...settings.models };
  await runCdk({ access, paths, log: "deploy", cwd: projectRoot, signal }, [
    "deploy",
    "--all",
    ...["--concurrency", "4", "--require-approval", "never", "--output", paths.assembly, "--outputs-file", outputsFile],
    ...Object.entries(context).flatMap(([name, value]) => ["--context", `${name}=${value}`]),
  ]);
  const outputs = await readJson(outputsFile, StackOutputs);
  if (outputs === undefined) throw new Problem(`The deployment left no outputs in ${toDisplayPath(outputsFile)}.`);
  await writeNote(access, NOTE_NAME, JSON.stringify({ fingerprint, outputs }));
  return outputs;
}

/** Prepares the emulated account for CDK, once per state. */
export async function bootstrapAccount(
  access: EmulatorAccess,
  paths: LocalPaths,
  signal: AbortSignal,
): Promise<"kept" | "made"> {
  if ((await readNote(access, "/cdk-bootstrap/hnb659fds/version")) !== undefined) return "kept";
  // In the app's directory the CLI would synthesize the app first, and without its bundles.
  const empty = path.join(paths.home, "empty");
  await mkdir(empty, { recursive: true });
  await runCdk({ access, paths, log: "bootstrap", cwd: empty, signal }, ["bootstrap", `aws://${ACCOUNT}/${REGION}`]);
  return "made";
}

/** A digest of sources and settings: while it stays the same, so does the deployment. */
export async function computeFingerprint(root: string, settings: DeploymentSettings): Promise<string> {
  const digest = createHash("sha256").update(JSON.stringify(settings)).update(process.version);
  for (const source of SOURCES) {
    for (const file of await filesUnder(path.join(root, source))) {
      const content = await readFile(file);
      digest.update(`${path.relative(root, file)}\0${content.length}\0`).update(content);
    }
  }
  return digest.digest("hex");
}

async function filesUnder(start: string): Promise<string[]> {
  const entries = await readdir(start, { withFileTypes: true, recursive: true }).catch(() => undefined);
  if (entries !== undefined) {
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort();
  }
  const isFile = await readFile(start).then(
    () => true,
    () => false,
  );
  return isFile ? [start] : [];
}

interface CdkCall {
  access: EmulatorAccess;
  paths: LocalPaths;
  log: string;
  cwd: string;
  signal: AbortSignal;
}

async function runCdk({ access, paths, log, cwd, signal }: CdkCall, args: string[]): Promise<void> {
  const cdk = path.join(projectRoot, "node_modules", "aws-cdk", "bin", "cdk");
  const result = await runCommand(process.execPath, [cdk, ...args, "--no-notices", "--ci"], {
    cwd,
    env: cdkEnvironment(access, process.env),
    timeoutSeconds: 280,
    signal,
  });
  const logFile = path.join(paths.logs, `${log}.log`);
  await writeFile(logFile, result.output, { mode: 0o600 });
  if (result.code !== 0) {
    throw new Problem(`cdk ${log} failed; all it said is in ${toDisplayPath(logFile)}.`, [
      ...lastLines(result.output, 25),
      "If it goes on like this, npm run emulator -- --fresh begins with an empty state.",
    ]);
  }
}

/** The caller's environment with its AWS settings taken out and those of the emulator put in. */
export function cdkEnvironment(
  { endpoint, secretKey }: EmulatorAccess,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith("AWS_") && !name.startsWith("CDK_"));
  return {
    ...Object.fromEntries(others),
    PATH: [path.dirname(process.execPath), environment["PATH"] ?? ""].join(path.delimiter),
    NO_PROXY: [environment["NO_PROXY"] ?? environment["no_proxy"], "127.0.0.1", "localhost"].filter(Boolean).join(),
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ENDPOINT_URL: endpoint,
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
    CDK_DISABLE_CLI_TELEMETRY: "true",
  };
}
