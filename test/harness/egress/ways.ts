/** A way by which a command may try to reach a host that its environment does not allow. */
export interface Way {
  readonly name: string;
  /** The body of an asynchronous function with the helpers of `prelude.ts`. */
  readonly script: string;
  /** The same without a proxy. @default the script itself */
  readonly open?: string;
  /** Domains with which the script gets through the proxy. @default it is tried in an open network */
  readonly allow?: readonly string[];
  /** Whether it needs rights that the sandbox takes away, so that it is tried without one. */
  readonly privileged?: boolean;
}

/** In a network of its own: the domain that is allowed, another one, a resolver, a private address and one of cloud metadata. */
export const HOSTS = {
  allowed: "20.1.0.1",
  other: "20.1.0.2",
  resolver: "20.1.0.53",
  private: "10.9.0.1",
  metadata: "169.254.169.254",
  other6: "2600:9::2",
} as const;

export const DOMAINS = ["allowed.example", "*.wild.example"] as const;

/** What names resolve to, for commands in an open network and for the proxy. */
export const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "allowed.example": [HOSTS.allowed],
  "other.example": [HOSTS.other],
  "dns.example": [HOSTS.resolver],
  "evil-allowed.example": [HOSTS.other],
  "allowed.example.other.example": [HOSTS.other],
  "six.example": [HOSTS.other6],
  "private.wild.example": [HOSTS.private],
  "loopback.wild.example": ["127.0.0.1"],
  "metadata.wild.example": [HOSTS.metadata],
  "mixed.wild.example": [HOSTS.private, HOSTS.allowed],
  "mapped.wild.example": [`::ffff:${HOSTS.private}`],
  "secret.wild.example": [HOSTS.allowed],
};

const { allowed, other, resolver, metadata, other6 } = HOSTS;
const request = (host: string, more = "") => `"GET / HTTP/1.1\\r\\nHost: ${host}\\r\\n${more}\\r\\n"`;
const overProxy = (first: string, then: string) => `const at = await connectBy("${first}"); ${then}`;
const direct = (host: string, port: number, text: string) => `await send("${host}", ${port}, ${text})`;

export const WAYS: readonly Way[] = [
  { name: "HTTP to another domain, with no proxy set", script: `await get("http://other.example/")` },
  { name: "TLS to another domain, with no proxy set", script: `await secure("other.example", "other.example")` },
  { name: "an IPv4 address by HTTP", script: `await get("http://${other}/")` },
  { name: "an IPv4 address by TLS without a server name", script: `await secure("${other}", "")` },
  { name: "an IPv4 address by TLS with an allowed server name", script: `await secure("${other}", "allowed.example")` },
  { name: "an IPv4 address with an allowed Host", script: direct(other, 80, request("allowed.example")) },
  { name: "an address as a decimal number", script: `await send("335609858", 80, ${request("335609858")})` },
  { name: "an address in hexadecimal", script: `await send("0x14010002", 80, ${request("0x14010002")})` },
  { name: "an IPv6 address", script: direct(other6, 80, request(`[${other6}]`)) },
  { name: "an IPv4 address in IPv6", script: direct(`::ffff:${other}`, 80, request("x")) },
  { name: "a domain with IPv6 only", script: `await get("http://six.example/")` },
  { name: "another port of another domain", script: direct("other.example", 8443, `"hello"`) },
  { name: "another port of an allowed domain", script: direct("allowed.example", 8443, `"hello"`) },
  { name: "SSH", script: direct("other.example", 22, `"SSH-2.0-x\\r\\n"`) },
  { name: "a protocol in which the server speaks first", script: `await send("${other}", 443, "")` },
  { name: "bytes of no protocol to port 443", script: direct(other, 443, "Buffer.from([0, 1, 2])") },
  { name: "TLS of a broken greeting", script: direct(other, 443, `Buffer.from("1603010005ffffffffff", "hex")`) },
  { name: "QUIC to another host", script: `await datagram("${other}", 443, "hello")` },
  { name: "QUIC to an allowed host", script: `await datagram("allowed.example", 443, "hello")` },
  { name: "time by UDP", script: `await datagram("${other}", 123, "hello")` },
  { name: "DNS with another resolver by UDP", script: `await query("${resolver}", "secret.other.example")` },
  { name: "DNS with another resolver by TCP", script: direct(resolver, 53, `"hello"`) },
  { name: "DNS over TLS", script: direct(resolver, 853, `"hello"`) },
  { name: "DNS over HTTPS by its name", script: `await secure("dns.example", "dns.example")` },
  { name: "DNS over HTTPS by its address", script: `await secure("${resolver}", "")` },
  { name: "a secret in a name of another domain", script: `await resolve("secret.other.example")` },
  { name: "a secret in a name of an allowed wildcard", script: `await resolve("secret.wild.example")` },
  { name: "a web socket", script: `await webSocket("ws://other.example/")` },
  { name: "a web socket over TLS", script: `await webSocket("wss://other.example/")` },
  {
    name: "a web socket to another host at an allowed address",
    script: direct(allowed, 80, request("other.example", "Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n")),
  },
  { name: "HTTP/2 without TLS", script: `await http2("http://other.example")` },
  {
    name: "an upgrade to HTTP/2",
    script: direct(other, 80, request(other, "Connection: Upgrade\\r\\nUpgrade: h2c\\r\\n")),
  },
  {
    name: "another Host at an allowed address",
    script: direct(allowed, 80, request("other.example")),
  },
  { name: "another server name at an allowed address", script: `await secure("${allowed}", "other.example")` },
  {
    name: "two Host headers",
    script: direct(other, 80, `"GET / HTTP/1.1\\r\\nHost: allowed.example\\r\\nHost: other.example\\r\\n\\r\\n"`),
  },
  {
    name: "a second request with another Host on one connection",
    script: direct(allowed, 80, `${request("allowed.example")} + ${request("other.example")}`),
  },
  {
    name: "a request in the body of another one",
    script: direct(
      allowed,
      80,
      `"POST / HTTP/1.1\\r\\nHost: allowed.example\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n" + ${request("other.example")}`,
    ),
  },
  {
    name: "an absolute URL of another domain at an allowed address",
    script: direct(allowed, 80, `"GET http://other.example/ HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n"`),
  },
  {
    name: "CONNECT to another domain",
    script: overProxy("other.example:443", `await finish(at, ${request("other.example")})`),
    allow: ["other.example"],
  },
  {
    name: "CONNECT to an address",
    script: overProxy(`${other}:443`, `await secureOver(at, "other.example")`),
    open: `await secure("${other}", "other.example")`,
  },
  {
    name: "CONNECT to another port of an allowed domain",
    script: overProxy("allowed.example:8443", `await finish(at, "hello")`),
    open: direct("allowed.example", 8443, `"hello"`),
  },
  {
    name: "CONNECT to SSH of an allowed domain",
    script: overProxy("allowed.example:22", `await finish(at, "SSH-2.0-x\\r\\n")`),
    open: direct("allowed.example", 22, `"SSH-2.0-x\\r\\n"`),
  },
  {
    name: "CONNECT to an allowed domain, with another server name",
    script: overProxy("allowed.example:443", `await secureOver(at, "other.example")`),
    allow: ["other.example"],
  },
  {
    name: "CONNECT to an allowed domain, with another Host",
    script: overProxy("allowed.example:80", `await finish(at, ${request("other.example")})`),
    allow: ["other.example"],
  },
  {
    name: "CONNECT in CONNECT",
    script: overProxy(
      "allowed.example:80",
      `at.write("CONNECT other.example:80 HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n"); await finish(at, ${request("other.example")})`,
    ),
    allow: ["other.example"],
  },
  {
    name: "a whole URL of another domain to the proxy",
    script: `await send("127.0.0.1", 80, "GET http://other.example/ HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n")`,
    allow: ["other.example"],
  },
  {
    name: "a whole URL with another Host to the proxy",
    script: `await send("127.0.0.1", 80, "GET http://allowed.example/ HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n")`,
    open: direct(allowed, 80, request("other.example")),
  },
  {
    name: "a whole URL of a private address to the proxy",
    script: `await send("127.0.0.1", 80, "GET http://${HOSTS.private}/ HTTP/1.1\\r\\nHost: ${HOSTS.private}\\r\\n\\r\\n")`,
    open: `await get("http://${HOSTS.private}/")`,
  },
  {
    name: "a whole URL with another port to the proxy",
    script: `await send("127.0.0.1", 80, "GET http://allowed.example:8443/ HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n")`,
    open: direct("allowed.example", 8443, request("allowed.example")),
  },
  { name: "a redirect to another domain", script: `await get("http://allowed.example/to/other")` },
  { name: "a redirect to a private address", script: `await get("http://allowed.example/to/${HOSTS.private}")` },
  { name: "a redirect to cloud metadata", script: `await get("http://allowed.example/to/${metadata}")` },
  { name: "an allowed name that leads to a private address", script: `await get("http://private.wild.example/")` },
  { name: "an allowed name that leads to a loopback", script: `await get("http://loopback.wild.example/")` },
  { name: "an allowed name that leads to cloud metadata", script: `await get("http://metadata.wild.example/")` },
  { name: "an allowed name with a private address among others", script: `await get("http://mixed.wild.example/")` },
  { name: "an allowed name with a private address in IPv6", script: `await get("http://mapped.wild.example/")` },
  {
    name: "an allowed name as the user of a URL",
    script: `await send("127.0.0.1", 80, "GET http://allowed.example@other.example/ HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n")`,
    allow: ["other.example"],
  },
  { name: "an allowed name as the start of another one", script: `await get("http://allowed.example.other.example/")` },
  { name: "an allowed name as the end of another one", script: `await get("http://evil-allowed.example/")` },
  { name: "a private address", script: `await get("http://${HOSTS.private}/")` },
  { name: "cloud metadata", script: `await get("http://${metadata}/")` },
  { name: "a socket in the abstract name space", script: `await send("\\0other", 0, "hello")` },
  { name: "a raw socket", script: `await ping("${other}")`, privileged: true },
];

/** Ways to the allowed domains. */
export const ALLOWED_WAYS: readonly Pick<Way, "name" | "script">[] = [
  { name: "HTTP, with no proxy set", script: `await get("http://allowed.example/")` },
  { name: "TLS, with no proxy set", script: `await secure("allowed.example", "allowed.example")` },
  { name: "a name in capitals with a dot", script: direct("Allowed.Example.", 80, request("Allowed.Example.")) },
  { name: "a name below a wildcard", script: `await get("http://secret.wild.example/")` },
  { name: "CONNECT", script: overProxy("allowed.example:443", `await secureOver(at, "allowed.example")`) },
  {
    name: "a whole URL to the proxy",
    script: `await send("127.0.0.1", 80, "GET http://allowed.example/ HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\n")`,
  },
  { name: "a web socket", script: `await webSocket("ws://allowed.example/")` },
  { name: "another address with the name of an allowed domain", script: direct(other, 80, request("allowed.example")) },
];
