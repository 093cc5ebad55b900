import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { cloneRepository } from "#harness/git/clone.ts";
import { pinRepositoryAddress } from "#harness/git/repository-address.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import { createAddressCheck, listOwnAddresses, resolveAllowed } from "#harness/network/blocked-addresses.ts";
import { scan } from "#harness/skills/scan.ts";
import { createOutwardFetch } from "#harness/tools/remote/outward-fetch.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";

/** Addresses that no setting allows: link-local, metadata, multicast, reserved, translators and tunnels. */
const NEVER = [
  ...["169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "192.0.0.1"],
  ...["224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "198.18.0.1", "192.0.2.1", "203.0.113.9"],
  ...["198.51.100.1", "192.88.99.1"],
  ...["fe80::1", "fe80::1%lo", "febf:ffff::1", "fec0::1", "ff02::1", "ff0e::1", "100::1", "5f00::1", "3fff::1"],
  ...["fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "2001:db8::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ...["2002:7f00:1::1", "2002:a9fe:a9fe::", "2002:0a00:0001::1", "2002:0808:0808::1"],
  ...["64:ff9b::a9fe:a9fe", "64:ff9b::169.254.169.254", "64:ff9b:1::a9fe:a9fe", "64:ff9b:1:fffe::10.0.0.1"],
  ...["::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:0:169.254.169.254", "::169.254.169.254", "::7f00:1"],
  ...["::ffff:100.100.100.200", "::ffff:224.0.0.1", "4000::1", "2001:10::1", "2001:20::1", "not an address", ""],
];
/** Addresses of the machine itself. */
const LOOPBACK = [
  ...["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::", "0:0:0:0:0:0:0:1"],
  ...["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:0.0.0.0", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1"],
];
/** Addresses of private networks that no test machine has. */
const PRIVATE = [
  ...["10.255.255.1", "172.16.255.254", "172.31.255.254", "192.168.255.254", "100.64.255.254", "100.127.255.254"],
  ...[
    "fc00::1",
    "fd12:3456:789a::1",
    "fdff:ffff::1",
    "::ffff:10.255.255.1",
    "::ffff:c0a8:fffe",
    "64:ff9b::10.255.255.1",
  ],
];
const PUBLIC = ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "2606:4700:4700::1111"];
const PUBLIC_BY_IPV6 = ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450:4001::1"];

const NOTHING = { loopback: false, privateNetworks: false };
const EVERYTHING = { loopback: true, privateNetworks: true };

describe("createAddressCheck", () => {
  it.each(NEVER)("rejects %s, whatever is allowed", (address) => {
    expect([createAddressCheck(NOTHING)(address), createAddressCheck(EVERYTHING)(address)]).toEqual([false, false]);
  });

  it.each(LOOPBACK)("allows %s only if the machine's own services are allowed", (address) => {
    expect(createAddressCheck({ loopback: false, privateNetworks: true })(address)).toBe(false);
    expect(createAddressCheck({ loopback: true, privateNetworks: false })(address)).toBe(true);
  });

  it.each(PRIVATE)("allows %s only if private networks are allowed", (address) => {
    expect(createAddressCheck({ loopback: true, privateNetworks: false })(address)).toBe(false);
    expect(createAddressCheck({ loopback: false, privateNetworks: true })(address)).toBe(true);
  });

  it.each([...PUBLIC, ...PUBLIC_BY_IPV6])("allows %s always", (address) => {
    expect(createAddressCheck(NOTHING)(address)).toBe(true);
  });

  it("rejects each address of the machine, IPv4 and IPv6, even if private networks are allowed", () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const isAllowed = createAddressCheck({ loopback: false, privateNetworks: true });
    for (const { address } of own) expect([address, isAllowed(address)]).toEqual([address, false]);
    expect(own.length).toBeGreaterThan(0);
  });

  it("allows the machine's own addresses with its services, except link-local ones", () => {
    const isAllowed = createAddressCheck({ loopback: true, privateNetworks: false });
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of own)
      expect([address, isAllowed(address)]).toEqual([address, !address.startsWith("fe80:")]);
    const outside = own.filter(({ family, internal }) => family === "IPv4" && !internal);
    expect(listOwnAddresses()).toEqual(outside.map(({ address }) => address));
  });
});

describe("createOutwardFetch", () => {
  const inUrl = [...NEVER, ...LOOPBACK, ...PRIVATE].filter((address) => /^[\da-f.:]+$/i.test(address));
  const spelled = ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0xa9fea9fe", "127.0.0.1.", "①②⑦.0.0.1", "localhost"];

  it.each([...inUrl.map((address) => (address.includes(":") ? `[${address}]` : address)), ...spelled])(
    "sends nothing to http://%s/",
    async (host) => {
      await expect(createOutwardFetch(NOTHING)(`http://${host}:9/`)).rejects.toThrow("may not call");
    },
  );

  it("connects to the checked address", async () => {
    const server = createServer((request, response) => response.end(request.headers.host));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const response = await createOutwardFetch({ loopback: true, privateNetworks: false })(`http://localhost:${port}/`);
    expect(await response.text()).toBe(`localhost:${port}`);
    server.close();
  });
});

describe("resolveAllowed", () => {
  it("rejects a name if one of its addresses is blocked", async () => {
    const found = await resolveAllowed("localhost", () => true);
    const last = found.at(-1)?.address;
    await expect(resolveAllowed("localhost", (address) => address !== last)).rejects.toThrow("may not call");
  });

  it.each([
    ["whose first address is blocked", ["10.1.2.3", "8.8.8.8"]],
    ["whose last address is blocked", ["8.8.8.8", "2606:4700::1111", "10.1.2.3"]],
    ["that has no address", []],
  ])("rejects a name %s", async (_, addresses) => {
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const lookup = vi
      .spyOn(process.getBuiltinModule("node:dns"), "lookup")
      .mockImplementation((...given: unknown[]) => {
        const done = given.at(-1);
        if (typeof done === "function") done(null, found);
      });
    const resolving = resolveAllowed("host.example", (address) => address !== "10.1.2.3");
    await expect(resolving.finally(() => lookup.mockRestore())).rejects.toThrow(
      "host.example is an address that runs may not call",
    );
  });

  it("uses an address without a lookup, and checks it", async () => {
    expect(await resolveAllowed("::1", () => true)).toEqual([{ address: "::1", family: 6 }]);
    expect(await resolveAllowed("127.0.0.1", () => true)).toEqual([{ address: "127.0.0.1", family: 4 }]);
    await expect(resolveAllowed("10.1.2.3", (address) => address !== "10.1.2.3")).rejects.toThrow(
      "10.1.2.3 is an address that runs may not call",
    );
  });

  it("passes on the options and the error of a lookup", async () => {
    expect(await resolveAllowed("localhost", () => true, { family: 4 })).toEqual([{ address: "127.0.0.1", family: 4 }]);
    await expect(resolveAllowed("no-host.invalid", () => true)).rejects.toThrow("getaddrinfo");
  });
});

describe("a repository's URL", () => {
  const folder = mkdtempSync(join(tmpdir(), "runyard-addresses-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const hosts = ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]"];

  it.each(hosts)("is not cloned from %s", async (host) => {
    await writeGitConfig(folder);
    const options = { workspace: folder, etc: folder, timeoutMs: 5_000, signal: new AbortController().signal };
    for (const url of [`https://${host}/a/b`, `ssh://git@${host}/a/b`])
      await expect(cloneRepository("b", { url }, options)).rejects.toThrow("may not call");
  });

  it.each(hosts)("is not scanned for skills at %s", async (host) => {
    const place = mkdtempSync(join(folder, "scan-"));
    const found = await scan({ v: 1, kind: "scan", url: `https://${host}/a/b`, time_limit_ms: 5_000 }, place);
    expect(found).toMatchObject({ outcome: "failed", message: expect.stringContaining("may not call") });
  });

  it("makes git connect to the checked addresses", async () => {
    const pinned = await pinRepositoryAddress("https://localhost:8443/a/b");
    expect(pinned.join(" ")).toMatch(/^-c http\.curloptResolve=localhost:8443:(127\.0\.0\.1|\[::1\])/);
  });
});

describe("a configuration", () => {
  const refusedHosts = [
    "169.254.169.254",
    "[fe80::1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
  ];

  it.each(refusedHosts)("is refused with an MCP server or a repository at %s, in every request", async (host) => {
    const client = createClient(await createTestControlPlane());
    const servers = { tracker: { url: `http://${host}/mcp` } };
    const repositories = [{ url: `https://${host}/a/b` }];
    const schedule = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "x" };
    const responses = [
      await client.post("/agent/runs", { prompt: "x", config: { mcp_servers: servers } }),
      await client.post("/agent/runs", { prompt: "x", config: { mcp_servers: [{ name: "a", ...servers.tracker }] } }),
      await client.post("/agent/runs", { prompt: "x", config: { repositories } }),
      await client.post("/agent/schedules", { ...schedule, agent_config: { mcp_servers: servers } }),
      await client.post("/agent/schedules", { ...schedule, agent_config: { repositories } }),
      await client.post("/agent/identities", { name: "bot", mcp_servers: servers }),
      await client.post("/agent/environments", { name: "shop", repositories }),
    ];
    for (const { status, body } of responses) {
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain("must not name a link-local, cloud metadata or reserved address");
    }
  });

  it("is accepted with servers that a single machine may allow", async () => {
    const client = createClient(await createTestControlPlane());
    const mcp_servers = { near: { url: "http://127.0.0.1:8000/mcp" }, inside: { url: "http://10.0.0.5/mcp" } };
    expect(await client.post("/agent/runs", { prompt: "x", config: { mcp_servers } })).toMatchObject({ status: 200 });
  });
});
