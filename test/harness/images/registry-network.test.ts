import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openRegistryNetwork } from "../../../harness/images/registry-network.ts";

vi.setConfig({ testTimeout: 120_000 });

const execute = promisify(execFile);

/** Sends each text on a connection of its own, and prints what comes back. */
const CLIENT = `const { connect } = require("node:net");
const ask = ([port, host, text]) => new Promise((resolve) => {
  let got = "";
  const socket = connect(port, host, () => socket.write(text));
  socket.setTimeout(3000, () => socket.destroy());
  socket.on("data", (chunk) => { got += chunk; if (got.includes("reached") || got.includes("blocked")) socket.destroy(); });
  socket.on("error", (error) => { got += error.code; }).on("close", () => resolve(got));
});
Promise.all(JSON.parse(process.argv[1]).map(ask)).then((all) => console.log(JSON.stringify(all)));`;

describe("the network of a pull", () => {
  let port = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nreached"));
    socket.on("error", () => {});
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const address = server.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
  });
  afterAll(() => void server.close());

  const call = async (
    host: string,
    registry: Parameters<typeof openRegistryNetwork>[1],
    requests: readonly (readonly [number, string, string])[],
  ): Promise<string[]> => {
    const network = await openRegistryNetwork(host, registry);
    try {
      const [file, ...args] = network.enter;
      const { stdout } = await execute(file, [...args, process.execPath, "-e", CLIENT, JSON.stringify(requests)]);
      return JSON.parse(stdout);
    } finally {
      await network.close();
    }
  };
  const get = (host: string) => `GET http://${host}/ HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
  const tunnel = (host: string) => `CONNECT ${host} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`;

  it("leads to no address of this machine, of private networks or of metadata services", async () => {
    connections = 0;
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `127.1.2.3:${port}`, `0.0.0.0:${port}`];
    const private_ = ["169.254.169.254:80", "10.0.0.1:80", "192.168.0.1:443", "[fd00::1]:80"];
    const requests = [...hosts, ...private_].flatMap((host) => [
      [80, "127.0.0.1", get(host)] as const,
      [80, "127.0.0.1", tunnel(host)] as const,
    ]);
    const answers = await call("ghcr.io", undefined, [...requests, [port, "127.0.0.1", "GET / HTTP/1.1\r\n\r\n"]]);
    expect(answers.filter((answer) => answer.includes("reached"))).toEqual([]);
    expect(connections).toBe(0);
    expect(answers.at(-1)).toBe("ECONNREFUSED");
  });

  it("leads to a registry that the operator calls private, and nowhere else", async () => {
    connections = 0;
    const host = `127.0.0.1:${port}`;
    const direct = `GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    const reaching = [
      [port, "127.0.0.1", direct],
      [80, "127.0.0.1", get(host)],
      [80, "127.0.0.1", tunnel(host)],
    ] as const;
    const others = [`127.0.0.1:${port + 1}`, `localhost:${port}`, "example.com:443", "10.0.0.1:80"];
    const blocked = others.map((other) => [80, "127.0.0.1", get(other)] as const);
    const answers = await call(host, { private: true }, [...reaching, ...blocked]);
    expect(answers.map((answer) => answer.includes("reached"))).toEqual([true, true, true, false, false, false, false]);
    expect(connections).toBe(3);
  });
});
