import fs, { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Limits } from "#harness/isolation/limits.ts";
import { createPlainSandbox, type Launch } from "#harness/isolation/sandbox.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { ProcessTransport } from "#harness/tools/remote/mcp-process.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const SECRET = "s3cr3t-value-of-the-run";
let folder = "";
const stops: AbortController[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mcp-process-"));
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort(new Error("the test is over"));
  rmSync(folder, { recursive: true });
});

const createMessage = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "said" });

/** A server that runs this bash script, and the messages that it sends. */
async function start(
  script: string,
  { args = ["-c", script], launch, limits, stop = new AbortController() }: Given = {},
) {
  stops.push(stop);
  const paths = { workspace: folder, home: folder, tmp: folder, output: folder, steps: folder };
  const secrets = { TOKEN: SECRET };
  const sandbox = createPlainSandbox({ host: paths, runId: "run-1", marker: {}, secrets }, "none");
  const transport = new ProcessTransport(
    { command: "bash", args, env: { OWN: "own value" } },
    {
      sandbox: { ...sandbox, limits, launch: (...args) => ({ ...sandbox.launch(...args), ...launch }) },
      ...{ host: paths, executionId: crypto.randomUUID(), workingDirectory: "/" },
      redactor: createRedactor([SECRET]),
      signal: stop.signal,
    },
  );
  const messages: JSONRPCMessage[] = [];
  const errors: string[] = [];
  const closed = Promise.withResolvers<void>();
  transport.onmessage = (message) => void messages.push(message);
  transport.onerror = (error) => void errors.push(error.message);
  transport.onclose = () => closed.resolve();
  await transport.start();
  return { transport, messages, errors, closed: closed.promise };
}
interface Given {
  readonly args?: readonly string[];
  readonly launch?: Partial<Launch>;
  readonly limits?: Limits;
  readonly stop?: AbortController;
}

describe("an MCP server that is a program", () => {
  it("gets messages in lines, and sends some among other lines", async () => {
    const { transport, messages, errors, closed } = await start(
      'echo starting; while read -r line; do echo "$line"; printf \'{"broken"\\n\'; done',
    );
    await transport.send(createMessage(1));
    await transport.send(createMessage(2));
    await expect.poll(() => messages).toEqual([createMessage(1), createMessage(2)]);
    await transport.close();
    await closed;
    expect([errors, transport.lastOutput()]).toEqual([[], ""]);
    await expect(transport.send(createMessage(3))).rejects.toThrow("the server has ended");
    await transport.close();
  });

  it("delivers the messages and keeps the errors that it has written right before its exit", async () => {
    const script = `printf '{"jsonrpc":"2.0","id":1,"method":"'; head -c 200000 /dev/zero | tr '\\0' x; echo '"}'`;
    const servers = await Promise.all(Array.from({ length: 20 }, () => start(`${script}; echo an error >&2`)));
    await Promise.all(servers.map(({ closed }) => closed));
    expect(servers.map(({ messages }) => messages.length)).toEqual(servers.map(() => 1));
    expect(servers.map(({ transport }) => transport.lastOutput())).toEqual(servers.map(() => "an error"));
  });

  it("is ended if it does not read its input", async () => {
    const { transport, closed } = await start("sleep 100");
    const message: JSONRPCMessage = { jsonrpc: "2.0", method: "said", params: { text: "x".repeat(6 * 1024 * 1024) } };
    const sent = Promise.allSettled([transport.send(message), transport.send(message)]);
    await expect(transport.send(message)).rejects.toThrow("the server does not read its input");
    await Promise.all([closed, sent]);
  });

  it("has its own variables and not the run's, its arguments, and its directory", async () => {
    const script =
      'for value in "$OWN" "${TOKEN-none}" "$RUNYARD_RUN_ID" "$PWD" "$1" "$2"; do echo "<$value>" >&2; done';
    const { transport, closed } = await start("", { args: ["-c", script, "name", "it's one", ""] });
    await closed;
    await transport.close();
    expect(transport.lastOutput()).toBe("<own value>\n<none>\n<run-1>\n</>\n<it's one>\n<>");
    const [name = "", ...others] = readdirSync(folder);
    expect([name, others]).toEqual([expect.stringMatching(/^mcp-\d+\.sh$/), []]);
    expect(readFileSync(join(folder, name), "utf8")).toMatch(/^exec 3>&-; +cd -- .*; exec /);
  });

  it("shows the end of its errors, redacted and the same each time", async () => {
    const { transport, closed } = await start(`printf 'x%.0s' {1..3000} >&2; echo ' ${SECRET} ' >&2`);
    await closed;
    await transport.close();
    const output = transport.lastOutput();
    expect(output).toMatch(/x \*\*\*$/);
    expect(output.length).toBeLessThan(2_200);
    expect(transport.lastOutput()).toBe(output);
  });

  it("ends with the execution, also with one that has ended already", async () => {
    const stop = new AbortController();
    const { messages, closed } = await start(`echo '${JSON.stringify(createMessage(1))}'; sleep 100 & sleep 100`, {
      stop,
    });
    await expect.poll(() => messages).toEqual([createMessage(1)]);
    stop.abort(new Error("over"));
    await closed;
    const late = await start("sleep 100", { stop });
    await late.closed;
    expect(late.messages).toEqual([]);
  });

  it("cannot be used if it does not start", async () => {
    const { transport, errors, closed } = await start("true", { launch: { file: join(folder, "none") } });
    await closed;
    expect(errors).toEqual([expect.stringContaining("ENOENT")]);
    await expect(transport.send(createMessage(1))).rejects.toThrow("the server has ended");
    await transport.close();
    const missing = await start("exec none-of-the-programs");
    await missing.closed;
    await missing.transport.close();
    expect([missing.errors, missing.transport.lastOutput()]).toEqual([[], expect.stringContaining("not found")]);
  });

  it("ends with a message of more than 10 MiB", async () => {
    const { messages, errors, closed } = await start("head -c 10485761 /dev/zero | tr '\\0' x; read -r line");
    await closed;
    expect([errors.length, messages]).toEqual([1, []]);
    const most = await start(
      `printf '{"jsonrpc":"2.0","id":1,"method":"'; head -c 1000000 /dev/zero | tr '\\0' x; echo '"}'`,
    );
    await most.closed;
    expect([most.errors, most.messages.length]).toEqual([[], 1]);
  });

  it("is measured ten times a second, with its processes twice a second, and ends with a limit that it exceeds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const limits = { memoryBytes: 2 ** 50, processes: 0, diskBytes: 2 ** 50, files: 1_000_000, descriptors: 256 };
      const { transport, messages, closed } = await start(
        `echo '{"jsonrpc":"2.0","id":1,"method":"'$(ulimit -n)'"}'; read -r line`,
        { limits: { ...limits, processes: 1_000_000 } },
      );
      await expect.poll(() => messages).toEqual([{ jsonrpc: "2.0", id: 1, method: "256" }]);
      vi.advanceTimersByTime(20_000);
      await transport.send(createMessage(1));
      await closed;
      await transport.close();
      expect([transport.lastOutput(), vi.getTimerCount()]).toEqual(["", 0]);
      // It would be measured at once if other programs of the machine started more tasks.
      const { readFileSync } = fs;
      vi.spyOn(fs, "readFileSync").mockImplementation((path, options) =>
        path === "/proc/loadavg" ? "0.00 0.00 0.00 1/100 1" : readFileSync(path, options),
      );
      syncBuiltinESMExports();
      const over = await start("read -r line", { limits });
      vi.advanceTimersByTime(499);
      expect(vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(1);
      await over.closed;
      await over.transport.close();
      expect(over.transport.lastOutput()).toBe("it had more than 0 processes and threads");
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
      vi.useRealTimers();
    }
  });

  it("is ended if it does not end within a second after its input", async () => {
    const { transport, messages, closed } = await start(`echo '${JSON.stringify(createMessage(1))}'; exec sleep 100`);
    await expect.poll(() => messages).toEqual([createMessage(1)]);
    const begin = performance.now();
    await transport.close();
    expect(performance.now() - begin).toBeGreaterThan(950);
    await closed;
  });
});
