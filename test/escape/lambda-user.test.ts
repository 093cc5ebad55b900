import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundling } from "#infra/bundle.ts";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { sh } from "./support/host.ts";

const NOBODY = "65534";
const CREDENTIAL = "the-credential-of-the-role";
const dockerfile = readFileSync("image/Dockerfile", "utf8");

let folder: string;
let programs: string;
let runtime: ChildProcess | undefined;
let api: Server | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lambda-user-"));
  chmodSync(folder, 0o755);
  programs = join(folder, "opt");
  const entryPoints = { entry: "image/entry.ts", harness: "harness/main.ts" };
  await build({ ...bundling(), entryPoints, outdir: programs, sourcemap: false });
});
afterEach(() => {
  runtime?.kill("SIGKILL");
  api?.close();
  api?.closeAllConnections();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Executes one invocation as Lambda does: the image's entry point runs as an unprivileged user (nobody under root). */
async function invoke(event: object, mode: number): Promise<void> {
  const node = join(programs, "node");
  rmSync(node, { force: true });
  copyFileSync(process.execPath, node);
  chmodSync(node, mode);
  const scratch = join(folder, "tmp");
  mkdirSync(scratch, { recursive: true });
  chmodSync(scratch, 0o777);
  const responded = Promise.withResolvers<void>();
  let events = 1;
  api = createServer((message, response) => {
    message.resume();
    if (!message.url?.endsWith("/next")) {
      response.writeHead(202).end("{}");
      return responded.resolve();
    }
    if (events-- <= 0) return;
    const deadline = String(Date.now() + 120_000);
    const headers = { "lambda-runtime-aws-request-id": "request-1", "lambda-runtime-deadline-ms": deadline };
    response.writeHead(200, headers).end(JSON.stringify(event));
  });
  await new Promise<void>((resolve) => api?.listen(0, "127.0.0.1", resolve));
  const address = api.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const [, entryPoint = "[]"] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
  const parts: string[] = JSON.parse(entryPoint).map((part: string) => part.replace("/opt/runyard", programs));
  const user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
  const [program = "", ...args] = process.getuid?.() === 0 ? [...user, ...parts] : parts;
  runtime = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      TMPDIR: scratch,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
      AWS_SECRET_ACCESS_KEY: CREDENTIAL,
    },
    stdio: "ignore",
  });
  await responded.promise;
}

/** Tries to read the runtime and the harness, and prints what it could read. */
const attack = () => `
for process in /proc/[0-9]*; do
  if ! tr '\\0' ' ' 2>/dev/null < $process/cmdline | grep -q "^${programs}/node "; then continue; fi
  echo found
  if [ -n "$(tr -d '\\0' 2>/dev/null < $process/environ)" ]; then echo environment; fi
  if grep -qa ${CREDENTIAL} $process/environ 2>/dev/null; then echo credential; fi
  if (exec 3< $process/mem) 2>/dev/null; then echo memory; fi
  if cat $process/maps >/dev/null 2>&1; then echo maps; fi
  if ls $process/fd >/dev/null 2>&1; then echo descriptors; fi
  if readlink $process/exe $process/cwd $process/root; then echo links; fi
  if cat ${programs}/node >/dev/null 2>&1; then echo program; fi
  kill -USR1 \${process#/proc/}
done
sleep 1
if (exec 3<>/dev/tcp/127.0.0.1/9229) 2>/dev/null; then echo inspector; fi`;

const attackWith = async (mode: number): Promise<string[]> => {
  await using plane = await FakeControlPlane.start({ prompt: sh(attack()) });
  const { deadline_at: _, ...event } = plane.envelope;
  await invoke(event, mode);
  expect(plane.outcome, plane.outputs.join()).toEqual({ success: true, summary: "Ran one command." });
  return (plane.outputs[0] ?? "").trim().split("\n");
};

describe("a command in a Lambda function", () => {
  it("cannot read environment, memory or descriptors of the runtime and the harness, whose user it is", async () => {
    const [, mode = ""] =
      /^RUN install --mode=(\d+) \/usr\/local\/bin\/node \/opt\/runyard\/node$/m.exec(dockerfile) ?? [];
    expect(await attackWith(Number.parseInt(mode, 8))).toEqual(["found", "found"]);
  });

  it("could read all of it from a program that its user may read", async () => {
    const found = await attackWith(0o755);
    expect(found).toEqual(expect.arrayContaining(["environment", "credential", "memory", "maps", "descriptors"]));
    expect(found).not.toContain("inspector");
  });
});
