import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createBubblewrapSandbox } from "#harness/isolation/bubblewrap.ts";
import { startLaunch } from "#harness/isolation/launch.ts";
import { readLimits } from "#harness/isolation/limits.ts";
import type { Network } from "#harness/isolation/network.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import type { LimitedNetwork } from "#harness/isolation/sandbox.ts";
import { createWorkspace } from "#harness/isolation/workspace.ts";
import { limitNetwork } from "#harness/session/limited-network.ts";
import { ADDRESSES, ALLOWED_WAYS, DOMAINS, HOSTS, WAYS, type Way } from "./ways.ts";

// A program that runs in a network namespace with the hosts of `ways.ts`. It tries each way with the proxy and without, and prints what
// the hosts received.

interface Receipt {
  readonly to: string;
  readonly text: string;
}

const TCP_PORTS = [22, 53, 80, 443, 853, 8443];
const UDP_PORTS = [123, 443];

/** The domain that is allowed, and what it may receive. */
const isAllowed = ({ to, text }: Receipt) =>
  [`${HOSTS.allowed}:80`, `${HOSTS.allowed}:443`].includes(to) && !text.includes("other.example");

const receipts: Receipt[] = [];
const takeReceipts = () => receipts.splice(0);

async function openHosts(): Promise<void> {
  const addresses = Object.values(HOSTS).map((address) => `address add ${address} dev lo`);
  const commands = ["link set lo up", ...addresses, "route add 20.0.0.0/8 dev lo", ""].join("\n");
  execFileSync("ip", ["-batch", "-"], { input: commands });
  for (const port of [...TCP_PORTS, "\0other"]) {
    const server = createServer((socket) => {
      const to = `${socket.localAddress?.replace("::ffff:", "")}:${port}`;
      let received = "";
      const note = () => receipts.push({ to, text: received });
      socket.on("error", () => {}).on("close", note);
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        const [, target] = /^GET \/to\/(\S+)/.exec(received) ?? [];
        const status = target === undefined ? "200 OK" : `302 Found\r\nLocation: http://${toPlace(target)}/`;
        socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nhi`);
      });
    });
    await once(typeof port === "string" ? server.listen(port) : server.listen(port, "::"), "listening");
  }
  for (const port of UDP_PORTS) {
    const socket = createSocket("udp4", (message) => receipts.push({ to: `udp:${port}`, text: String(message) }));
    await once(socket.bind(port, "0.0.0.0"), "listening");
  }
  const names = createSocket("udp4", (query, { port, address }) => names.send(answer(query), port, address));
  await once(names.bind(53, "0.0.0.0"), "listening");
}

/** What the allowed domain gets does not name the other one. */
const toPlace = (target: string) => (target === "other" ? "other.example" : target);

/** Answers a query for an A or AAAA record. */
function answer(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const name = query.toString("latin1", 13, end - 5).replace(/[^a-z0-9-]/g, ".");
  receipts.push({ to: "dns", text: name });
  const isV6 = query.readUInt16BE(end - 4) === 28;
  const records = (ADDRESSES[name] ?? [])
    .filter((address) => address.includes(":") === isV6)
    .map((address) => {
      const bytes = isV6 ? toV6Bytes(address) : Buffer.from(address.split(".").map(Number));
      return Buffer.concat([Buffer.from([0xc0, 12, 0, isV6 ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, bytes.length]), bytes]);
    });
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (name in ADDRESSES ? 0 : 3), 2);
  header.writeUInt16BE(records.length, 6);
  header.fill(0, 8);
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

function toV6Bytes(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  const [, mapped] = /^::ffff:([\d.]+)$/.exec(address) ?? [];
  if (mapped !== undefined) Buffer.from([0xff, 0xff, ...mapped.split(".").map(Number)]).copy(bytes, 10);
  else for (const [at, group] of [0x2600, 9, 0, 0, 0, 0, 0, 2].entries()) bytes.writeUInt16BE(group, 2 * at);
  return bytes;
}

/** The proxy resolves names in this process. */
function replaceLookup(): void {
  const dns = process.getBuiltinModule("node:dns");
  const lookup = (host: string, _: unknown, done: (error: Error | null, found?: unknown) => void) => {
    const found = (host === "127.0.0.1" ? [host] : (ADDRESSES[host] ?? [])).map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    if (found.length > 0) done(null, found);
    else done(Object.assign(new Error(`${host} was not found`), { code: "ENOTFOUND" }));
  };
  Object.assign(dns, { lookup });
}

const prelude = readFileSync(join(import.meta.dirname, "prelude.mjs"), "utf8");
const OPEN: Network = {
  nameServer: HOSTS.resolver,
  enter: ["/usr/bin/env"],
  opened: Promise.resolve(true),
  close: async () => {},
};

async function run(script: string, limited?: LimitedNetwork): Promise<string> {
  const { etc, paths: host, remove } = createWorkspace();
  const bwrap = findProgram("bwrap") ?? "";
  const limits = readLimits();
  const make = await createBubblewrapSandbox({ bwrap, etc, limits, network: OPEN, group: undefined, filtered: true });
  const sandbox = make({ host, runId: "run-1", marker: {}, ...(limited === undefined ? {} : { limited }) });
  const command = `exec ${sandbox.node} --input-type=module - <<'end'\n${prelude}\n${script}\nprocess.exit()\nend\n`;
  writeFileSync(join(host.steps, "step.sh"), command);
  const launched = startLaunch(sandbox.launch("step.sh"));
  const [printed] = await Promise.all([Promise.all(launched.output.map(text)), once(launched.process, "close")]);
  await remove();
  return printed.join("");
}

async function runPrivileged(script: string): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(`${prelude}\n${script}\nprocess.exit()\n`);
  const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
  return printed;
}

async function runWithout({ script, open = script, allow, privileged = false }: Way): Promise<string> {
  if (privileged) return await runPrivileged(open);
  if (allow === undefined) return await run(open);
  const network = await limitNetwork({ mode: "allowlist", domains: [...DOMAINS, ...allow] }, []);
  const printed = await run(open, network.limited);
  await network.close();
  return printed;
}

/** Connections are noted when they end. */
const SETTLE_MS = 20;
const isSecret = ({ to, text }: Receipt) => to !== "dns" || text.startsWith("secret.");

await openHosts();
replaceLookup();
const network = await limitNetwork({ mode: "allowlist", domains: [...DOMAINS] }, []);
const refusals: string[] = [];
network.egress.watch((refusal) => refusals.push(refusal));
const only = process.argv[2];
for (const way of WAYS.filter(({ name }) => only === undefined || name === only)) {
  const output = await run(way.script, network.limited);
  await sleep(SETTLE_MS);
  const limited = takeReceipts().filter((receipt) => !isAllowed(receipt));
  const outputWithout = await runWithout(way);
  await sleep(SETTLE_MS);
  const open = takeReceipts().filter((receipt) => !isAllowed(receipt) && isSecret(receipt));
  const result = { name: way.name, output, limited, outputWithout, open, refusals: refusals.splice(0) };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
for (const { name, script } of ALLOWED_WAYS) {
  const output = await run(script, network.limited);
  await sleep(SETTLE_MS);
  const received = takeReceipts();
  const [limited, open] = [received.filter((one) => !isAllowed(one)), received.filter(isAllowed)];
  process.stdout.write(`${JSON.stringify({ name: `allowed: ${name}`, output, limited, outputWithout: "", open })}\n`);
}
await network.close();
process.exit(0);
