import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { EmulatorAccess } from "../emulator/emulator-access.ts";
import { onInterrupt } from "../lab/bench/interruption.ts";
import { findProgram, lastLines, runCommand } from "../server/host/commands.ts";
import { projectRoot } from "../server/host/paths.ts";
import { firstFreePort } from "../server/host/ports.ts";
import { Problem } from "../server/host/terminal.ts";

/** AWS's own DynamoDB for one machine. Version 3.0.0 counts the capacity of transactions otherwise than AWS does. */
const VERSION = "2.6.1";
const PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy-dependencies";
const LEAST_JAVA = 17;
/** It demands a key and takes any. */
const ANY_KEY = "test";
/** The SHA-256 of each of its files, as `sha256sum` prints them. */
const CHECKSUMS = path.join(import.meta.dirname, "dynamodb-local.sha256");

export interface DynamoDbLocal extends EmulatorAccess {
  readonly name: string;
  stop(): Promise<void>;
}

/** Starts it in memory, using up to `heapMb` of it; returns the reason if this host lacks something for it. */
export async function startDynamoDbLocal(heapMb = 512): Promise<DynamoDbLocal | { readonly missing: string }> {
  const java = await findProgram("java", process.env["PATH"] ?? "");
  const result = java === undefined ? undefined : await runCommand(java, ["-version"], { timeoutSeconds: 20 });
  const version = Number(/version "(\d+)/.exec(result?.output ?? "")?.[1] ?? 0);
  if (java === undefined || version < LEAST_JAVA) return { missing: `Java ${LEAST_JAVA} or later` };
  const folder = await fetchDynamoDbLocal();
  if (typeof folder !== "string") return folder;
  const port = await firstFreePort(18_000);
  const args = [`-Djava.library.path=${folder}`, "-cp", path.join(folder, "*"), MAIN, "-inMemory", "-port", `${port}`];
  const child = spawn(java, [`-Xmx${heapMb}m`, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const output: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  const endpoint = `http://127.0.0.1:${port}`;
  const killed = () => void child.kill("SIGKILL");
  process.once("exit", killed);
  const cancel = onInterrupt(() => end(child));
  const stop = async (): Promise<void> => {
    process.off("exit", killed);
    await end(child).finally(cancel);
  };
  if (await responses(child, endpoint))
    return { endpoint, secretKey: ANY_KEY, name: `DynamoDB Local ${VERSION}`, stop };
  await stop();
  throw new Problem("DynamoDB Local did not start.", lastLines(output.join(""), 5));
}

const MAIN = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

/**
 * Returns the folder of its classes. They are fetched once from Maven's repository, compared with their checksums, and kept next to
 * the local cloud's state.
 */
export async function fetchDynamoDbLocal(): Promise<string | { readonly missing: string }> {
  const home = path.join(projectRoot, ".runyard", "dynamodb-local");
  const folder = path.join(home, VERSION);
  if ((await readdir(folder).catch(() => [])).length > 0) return folder;
  if ((await runCommand("mvn", ["--version"], { timeoutSeconds: 60 })).code !== 0) return { missing: "Maven (mvn)" };
  const draft = path.join(home, `draft-${process.pid}`);
  await mkdir(draft, { recursive: true });
  try {
    const pom = path.join(draft, "pom.xml");
    await writeFile(pom, POM);
    const repository = `-Dmaven.repo.local=${path.join(draft, "repository")}`;
    const copy = [`-DoutputDirectory=${path.join(draft, "classes")}`, "-DincludeScope=runtime"];
    const args = ["-q", "-B", "-f", pom, repository, PLUGIN, ...copy];
    const { code, output } = await runCommand("mvn", args, { timeoutSeconds: 300 });
    if (code !== 0) return { missing: `Maven's repository (${lastLines(output, 1).join()})` };
    await throwIfChanged(path.join(draft, "classes"));
    // Another process may have fetched the same files meanwhile.
    await rename(path.join(draft, "classes"), folder).catch(async (error: unknown) => {
      if ((await readdir(folder).catch(() => [])).length === 0) throw error;
    });
    return folder;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Throws unless the folder has exactly the files of the checksums. */
async function throwIfChanged(folder: string): Promise<void> {
  const expected = new Map(
    (await readFile(CHECKSUMS, "utf8"))
      .trim()
      .split("\n")
      .map((line) => [line.slice(66), line.slice(0, 64)] as const),
  );
  const names = await readdir(folder);
  for (const name of new Set([...expected.keys(), ...names])) {
    const content = await readFile(path.join(folder, name)).catch(() => "");
    if (createHash("sha256").update(content).digest("hex") !== expected.get(name)) {
      throw new Problem(`${name} of DynamoDB Local ${VERSION} is not the file of ${path.basename(CHECKSUMS)}.`);
    }
  }
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>runyard</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

async function responses(child: ChildProcess, endpoint: string): Promise<boolean> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(50)) {
    if (child.exitCode !== null || child.pid === undefined) return false;
    // Without a signature it refuses, which shows that it is up.
    const isUp = await fetch(endpoint, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => {
        await response.body?.cancel();
        return true;
      },
      () => false,
    );
    if (isUp) return true;
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
