import { once } from "node:events";
import { createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAllowedDomains, GITHUB_DOMAINS, PACKAGE_DOMAINS, toHostName } from "#harness/network/domains.ts";
import { createEgress } from "#harness/network/egress.ts";
import { answerQuery } from "#harness/network/name-server.ts";
import { readServerName } from "#harness/network/server-name.ts";

describe("createAllowedDomains", () => {
  it.each([
    ["pypi.org", true],
    ["a.pypi.org", false],
    ["apypi.org", false],
    ["org", false],
    ["a.example.com", true],
    ["a.b.example.com", true],
    ["example.com", false],
    ["anexample.com", false],
    ["capital.org", true],
    ["packages", false],
    ["", false],
  ])("of names and wildcards includes %j: %j", (host, expected) => {
    expect(createAllowedDomains(["pypi.org", "*.example.com", "Capital.org"], []).includes(host)).toBe(expected);
  });

  it("includes registries by packages, and the hosts of the run's repositories by repository", () => {
    const urls = ["https://github.com/a/b", "git@git.example:a/b.git", "https://code.example:8443/a/b", "file:///a/b"];
    const repositories = urls.map((url) => ({ url }));
    expect(createAllowedDomains(["packages"], repositories).names).toEqual(PACKAGE_DOMAINS);
    expect(createAllowedDomains(["repository"], repositories).names).toEqual([
      ...GITHUB_DOMAINS,
      "git.example",
      "code.example",
    ]);
  });

  it("includes the ports 80 and 443, and that of a repository at its host", () => {
    const domains = createAllowedDomains(["repository", "a.example"], [{ url: "https://code.example:8443/a/b" }]);
    const ports = (host: string) => [80, 443, 8443, 22, 0].filter((port) => domains.includes(host, port));
    expect([ports("code.example"), ports("a.example"), ports("b.example")]).toEqual([[80, 443, 8443], [80, 443], []]);
  });
});

describe("toHostName", () => {
  it.each([
    ["A.Example.", "a.example"],
    ["[2001:DB8::1]", "2001:db8::1"],
    ["127.0.0.1", "127.0.0.1"],
    ["a_b.example", "a_b.example"],
    ["", undefined],
    ["a..b", undefined],
    ["a b", undefined],
    ["a\0.example", undefined],
    ["a.example/", undefined],
    ["ä.example", undefined],
    ["a".repeat(254), undefined],
  ])("of %j is %j", (text, expected) => {
    expect(toHostName(text)).toBe(expected);
  });
});

describe("createEgress", () => {
  it("names each refused host once, with the remedy, also to a watcher that comes later", () => {
    const egress = createEgress("allowlist", createAllowedDomains(["a.example"], []));
    const texts: string[] = [];
    expect(() => egress.check("b.example")).toThrow("blocked: b.example, add it to the environment's network.domains");
    egress.watch((text) => texts.push(text));
    expect(() => egress.check("b.example", 8443)).toThrow("b.example");
    expect(() => egress.check("a.example", 22)).toThrow();
    egress.check("a.example", 443);
    expect(texts).toEqual([
      "blocked: b.example, add it to the environment's network.domains",
      "blocked: a.example, commands and web_fetch may call the ports 80 and 443 only",
    ]);
  });

  it("names 50 hosts at most", () => {
    const egress = createEgress("none");
    const texts: string[] = [];
    egress.watch((text) => texts.push(text));
    for (let index = 0; index < 60; index++) expect(() => egress.check(`a${index}.example`)).toThrow();
    expect(texts).toHaveLength(50);
  });
});

/** The first bytes of a TLS connection of Node. */
async function greet(servername: string): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const client = connectTls({ port, host: "127.0.0.1", servername, rejectUnauthorized: false });
  client.on("error", () => {});
  const [socket] = await once(server, "connection");
  const [bytes] = await once(socket, "data");
  socket.destroy();
  server.close();
  return bytes;
}

/** Splits the contents of a record into records of a few bytes. */
function split(greeting: Buffer, size: number): Buffer {
  const content = greeting.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size);
    parts.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(parts);
}

describe("readServerName", () => {
  it.each(["a.example", ""])("reads the name %j, however the greeting is split", async (name) => {
    const greeting = await greet(name);
    const expected = { kind: "tls", name: name === "" ? undefined : name };
    expect(readServerName(greeting)).toEqual(expected);
    for (const size of [1, 3, 100]) expect(readServerName(split(greeting, size))).toEqual(expected);
  });

  it("waits for the rest of a greeting, of which it says how much is missing at least", async () => {
    const greeting = await greet("a.example");
    for (let length = 1; length < greeting.length; length++)
      expect(readServerName(greeting.subarray(0, length))).toEqual({
        kind: "incomplete",
        missing: (length < 9 ? 9 : greeting.length) - length,
      });
  });

  it.each([1, 3, 100, 1000])("reads a greeting in records of %d bytes only a few times", async (size) => {
    const greeting = split(await greet(`${"a".repeat(60)}.example`), size);
    let [reads, length] = [0, 1];
    for (; ; reads++) {
      const read = readServerName(greeting.subarray(0, length));
      if (read.kind !== "incomplete") break;
      length += read.missing;
    }
    expect(length, "no byte is waited for that need not come").toBeLessThanOrEqual(greeting.length);
    expect(reads).toBeLessThan(50);
  });

  it("refuses a greeting as soon as it cannot be complete within 64 KiB", () => {
    const greeting = split(Buffer.from([0, 0, 0, 0, 0, 1, 0, 0x3f, 0xff, ...Buffer.alloc(20_000)]), 1);
    expect(readServerName(greeting.subarray(0, 60))).toMatchObject({ kind: "incomplete" });
    expect(readServerName(greeting.subarray(0, 64 * 1024 - 5))).toEqual({ kind: "invalid" });
  });

  it("refuses a greeting with a byte too many or too few in any length, or with two names", async () => {
    const greeting = await greet("a.example");
    const at = greeting.indexOf("a.example");
    for (const [offset, change] of [
      [-2, 1],
      [-2, 255],
      [-4, 1],
      [-6, 1],
      [-8, 1],
      [-9, 1],
    ] as const) {
      const changed = Buffer.from(greeting);
      changed[at + offset + 1] = ((changed[at + offset + 1] ?? 0) + change) & 0xff;
      expect(readServerName(changed), String(offset)).not.toMatchObject({ kind: "tls", name: "a.example" });
    }
  });

  it.each(["1503010002", "160301000501000001ff", "1603010000", "16030100050200000100"])("refuses %s", (bytes) => {
    expect(readServerName(Buffer.from(bytes, "hex"))).toEqual({ kind: "invalid" });
  });
});

describe("answerQuery", () => {
  const query = (name: string, type = 1, flags = 0x0100) => {
    const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
    const header = [0xab, 0xcd, flags >> 8, flags & 0xff, 0, 1, 0, 0, 0, 0, 0, 0];
    return Buffer.from([...header, ...labels, 0, 0, type, 0, 1]);
  };
  const ask = (message: Buffer) => answerQuery(message, [198, 18, 0, 1], (name) => name === "a.example");
  const read = (answer: Buffer | undefined) =>
    answer && { id: answer.readUInt16BE(0), code: answer.readUInt8(3) & 15, answers: answer.readUInt16BE(6) };

  it("gives an allowed name the one address", () => {
    const answer = ask(query("a.example"));
    expect(read(answer)).toEqual({ id: 0xabcd, code: 0, answers: 1 });
    expect([...(answer?.subarray(-6) ?? [])]).toEqual([0, 4, 198, 18, 0, 1]);
  });

  it("knows nothing else of an allowed name, and no other name", () => {
    expect(read(ask(query("a.example", 28)))).toEqual({ id: 0xabcd, code: 0, answers: 0 });
    expect(read(ask(query("b.example")))).toEqual({ id: 0xabcd, code: 3, answers: 0 });
  });

  it("answers what it does not understand with an error, and what is no query not at all", () => {
    expect(read(ask(query("a.example", 1, 0x2000)))?.code).toBe(4);
    expect(read(ask(query("a.example").subarray(0, 20)))?.code).toBe(1);
    expect(read(ask(Buffer.concat([query("a").subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])])))?.code).toBe(1);
    expect(ask(query("a.example", 1, 0x8000))).toBeUndefined();
    expect(ask(Buffer.alloc(5))).toBeUndefined();
  });
});
