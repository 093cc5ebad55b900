import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundling } from "#infra/bundle.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { Repository } from "../support/repository.ts";

const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
const HOOKS = "/aws/lambda-microvms/runtime/v1";
let folder: string;
let programs: string;
const running: ChildProcess[] = [];
const servers: Server[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "image-test-"));
  programs = join(folder, "opt");
  await build({
    ...bundling(),
    entryPoints: { entry: "image/entry.ts", harness: "harness/main.ts" },
    outdir: programs,
    sourcemap: false,
  });
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program as a sandbox starts it, with the test's own temporary directory. */
function start(args: readonly string[], environment: Record<string, string>, node = process.execPath, from = programs) {
  const env = { PATH: process.env["PATH"] ?? "", TMPDIR: folder, ...environment };
  const child = spawn(node, [join(from, "entry.mjs"), ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  return child;
}

const waitForEnd = async (child: ChildProcess): Promise<number | null> => {
  const [code] = await once(child, "exit");
  return code;
};

/** The envelope as a provider passes it. */
const createPayload = ({ envelope }: FakeControlPlane, lifetimeMs = 120_000) =>
  JSON.stringify({ ...envelope, deadline_at: Date.now() + lifetimeMs });

describe("the image as a Lambda function", () => {
  interface ReceivedResponse {
    readonly path: string;
    readonly body: unknown;
  }

  /** Lambda's side of the runtime API, which returns these events in order. */
  async function lambda(events: unknown[]) {
    const responses: ReceivedResponse[] = [];
    const heard = Promise.withResolvers<void>();
    const wanted = events.length;
    const server = createServer(async (message, response) => {
      if (message.url?.endsWith("/next")) {
        const event = events.shift();
        // There are no more events: the process waits, as it does between invocations.
        if (event === undefined) return;
        response.writeHead(200, {
          "lambda-runtime-aws-request-id": `request-${wanted - events.length}`,
          "lambda-runtime-deadline-ms": String(Date.now() + 120_000),
        });
        return void response.end(typeof event === "string" ? event : JSON.stringify(event));
      }
      let text = "";
      for await (const chunk of message) text += chunk;
      responses.push({ path: message.url ?? "", body: JSON.parse(text) });
      response.writeHead(202).end("{}");
      if (responses.length === wanted) heard.resolve();
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    start([], { AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`, AWS_SECRET_ACCESS_KEY: "the-cloud-credential" });
    await heard.promise;
    return responses;
  }

  it("executes a run to its end without credentials, and returns", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo hello; env") });
    const { deadline_at: _, ...event } = plane.envelope;
    expect(await lambda([event])).toEqual([{ path: "/2018-06-01/runtime/invocation/request-1/response", body: null }]);
    expect(plane.outcome).toMatchObject({ success: true });
    expect(plane.outputs[0]).toContain("hello");
    expect(plane.outputs[0]).not.toContain("the-cloud-credential");
  });

  it("reports an invalid event, and accepts the next one", async () => {
    const responses = await lambda([{ version: 2 }, "no json"]);
    expect(responses).toMatchObject([
      { path: "/2018-06-01/runtime/invocation/request-1/error", body: { errorType: "ValiError" } },
      { path: "/2018-06-01/runtime/invocation/request-2/error", body: { errorType: "SyntaxError" } },
    ]);
  });
});

describe("the image as a MicroVM", () => {
  async function machine() {
    const child = start([], { RUNYARD_HOOKS_PORT: "0" });
    const lines = createInterface({ input: child.stdout ?? process.stdin });
    const [line] = await once(lines, "line");
    const { port } = JSON.parse(String(line));
    const call = (hook: string, body = "") =>
      fetch(`http://127.0.0.1:${port}${hook}`, { method: "POST", body }).then(({ status }) => status);
    return { child, call };
  }

  it("is ready before it gets an envelope, executes it, and ends with it", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo hello") });
    const { child, call } = await machine();
    expect([await call(`${HOOKS}/ready`), await call(`${HOOKS}/validate`)]).toEqual([200, 200]);
    const ended = waitForEnd(child);
    expect(await call(`${HOOKS}/run`, createPayload(plane))).toBe(200);
    expect(await ended).toBe(0);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran one command." });
  });

  it("accepts the payload next to the machine's name", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo hello") });
    const { child, call } = await machine();
    const ended = waitForEnd(child);
    expect(await call(`${HOOKS}/run`, JSON.stringify({ microvmId: "m", runHookPayload: createPayload(plane) }))).toBe(
      200,
    );
    expect(await ended).toBe(0);
    expect(plane.outcome).toMatchObject({ success: true });
  });

  it("rejects an invalid envelope, an unknown hook, and a second envelope", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("sleep 30") });
    const { call } = await machine();
    expect(await call(`${HOOKS}/run`, "no json")).toBe(400);
    expect(await call(`${HOOKS}/run`, "x".repeat(100_000))).toBe(400);
    expect(await call("/run", createPayload(plane))).toBe(404);
    expect(await call(`${HOOKS}/run`, createPayload(plane))).toBe(200);
    expect(await call(`${HOOKS}/run`, createPayload(plane))).toBe(409);
  });
});

describe("the image in a container", () => {
  it("provides Node and the harness to the other container, which removes the envelope and begins", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh("tr '\\0' '\\n' < /proc/$PPID/environ; env; ls -R $SHARED"),
    });
    const volume = join(folder, "volume");
    mkdirSync(volume);
    expect(await waitForEnd(start(["copy", volume], { RUNYARD_ENVELOPE: createPayload(plane) }))).toBe(0);
    expect(readdirSync(volume).sort()).toEqual(["entry.mjs", "harness.mjs", "in", "node"]);
    expect(statSync(join(volume, "in")).mode & 0o777).toBe(0o777);
    const { stdout } = spawnSync(join(volume, "node"), ["--version"], { encoding: "utf8" });
    expect(stdout.trim()).toBe(process.version);
    const child = start(["run", volume], { SECRET_OF_THE_IMAGE: "kept" }, join(volume, "node"), volume);
    expect(await waitForEnd(child)).toBe(0);
    expect(plane.outcome).toMatchObject({ success: true });
    expect(existsSync(join(volume, "in/envelope.json"))).toBe(false);
    expect(plane.outputs[0]).not.toContain(plane.envelope.key);
    expect(plane.outputs[0]).not.toContain("RUNYARD_ENVELOPE");
  });

  it("fails before running anything if there is no envelope", async () => {
    const volume = join(folder, "other");
    expect(await waitForEnd(start(["copy", volume], {}))).toBe(1);
    expect(await waitForEnd(start(["run", volume], {}))).toBe(1);
  });
});

describe("the tools of the image", () => {
  /** Programs of the packages that the Dockerfile installs, by their package. */
  const INSTALLED: Readonly<Record<string, string>> = {
    bash: "bash",
    git: "git",
    "openssh-client": "ssh",
    python3: "python3",
    ripgrep: "rg",
    tar: "tar",
  };
  /** What every Debian has: https://www.debian.org/doc/debian-policy/ch-binary.html#essential-packages */
  const ESSENTIAL = "sh cat cp env find grep gzip head ls mkdir mv rm sed sleep sort tr true wc".split(" ");

  it("cover an execution with a repository, a search and a file", async () => {
    const dockerfile = readFileSync("image/Dockerfile", "utf8");
    const named = Object.entries(INSTALLED).filter(([name]) => new RegExp(`^ {8}${name} `, "m").test(dockerfile));
    expect(named).toHaveLength(Object.keys(INSTALLED).length);
    const cut = join(folder, "bin");
    mkdirSync(cut);
    symlinkSync(process.execPath, join(cut, "node"));
    for (const program of [...named.map(([, name]) => name), ...ESSENTIAL]) {
      // Only the system's own programs: a developer's PATH may start with scripts that need more.
      const options = { encoding: "utf8", env: { PATH: "/usr/local/bin:/usr/bin:/bin" } } as const;
      const found = spawnSync("/bin/sh", ["-c", `command -v ${program}`], options).stdout.trim();
      expect(found, program).not.toBe("");
      symlinkSync(found, join(cut, program));
    }
    using repository = new Repository("things", { "notes/a.txt": "a marker\n" });
    const commands = [
      "rg --files-with-matches marker && git log --oneline | wc -l",
      "python3 -c 'print(6 * 7)' && node --print '6 * 7'",
      'echo kept > "$RUNYARD_OUTPUT/kept.txt" && tar --version | head -1',
      "command -v bwrap slirp4netns ip curl || echo no more",
    ];
    await using plane = await FakeControlPlane.start({
      prompt: commands.map(sh).join("\n"),
      context: { agent_config: { model_id: "local/runbook", repositories: [{ url: repository.url }] } },
    });
    const { deadline_at: _, ...envelope } = plane.envelope;
    const volume = join(folder, "cut");
    expect(await waitForEnd(start(["copy", volume], { RUNYARD_ENVELOPE: JSON.stringify(envelope) }))).toBe(0);
    const child = start(["run", volume], { PATH: cut }, join(volume, "node"), volume);
    expect(await waitForEnd(child)).toBe(0);
    expect(plane.outcome, JSON.stringify(plane.outputs)).toMatchObject({ success: true });
    expect(plane.outputs.join("\n")).toMatch(/notes\/a\.txt[\s\S]*42\n42[\s\S]*GNU tar[\s\S]*no more/);
    expect([...plane.artifacts.keys()]).toEqual(["kept.txt"]);
  });
});
