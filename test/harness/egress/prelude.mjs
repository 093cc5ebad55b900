// The helpers of the scripts of `ways.ts`. Node reads both from its standard input, inside of the sandbox.
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";

const SHORT_MS = 3_000;
const within = (work) => Promise.race([work, sleep(SHORT_MS)]);

/** Follows redirects, as programs do. */
const get = (url) => within(fetch(url).then((response) => response.text()));
const send = async (host, port, text) => {
  const socket = host.startsWith("\0") ? connect(host) : connect(port, host);
  await within(once(socket, "connect"));
  await finish(socket, text);
};
const finish = async (socket, text) => {
  socket.write(text);
  await within(once(socket, "data"));
  // A second answer may follow the first one.
  await sleep(50);
  socket.destroy();
};
const secure = (host, servername) => within(once(connectTls({ port: 443, host, servername }), "secureConnect"));
const secureOver = (socket, servername) => within(once(connectTls({ socket, servername }), "secureConnect"));
const connectBy = async (target) => {
  const socket = connect(80, "127.0.0.1");
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [answer] = await within(once(socket, "data"));
  if (!String(answer).startsWith("HTTP/1.1 200")) throw new Error(String(answer));
  return socket;
};
const datagram = async (host, port, text) => {
  const socket = createSocket("udp4");
  await new Promise((resolve, reject) => socket.send(text, port, host, (error) => (error ? reject(error) : resolve())));
  await sleep(50);
  socket.close();
};
const resolve = (name, resolver = new Resolver({ timeout: 500, tries: 1 })) => resolver.resolve4(name);
const query = async (server, name) => {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([server]);
  await resolve(name, resolver);
};
const webSocket = (url) =>
  within(
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("the web socket failed"));
    }),
  );
const http2 = (url) => within(once(connectHttp2(url).request({ ":path": "/" }), "response"));
/** Sends a datagram in a packet of its own making. */
const ping = async (address) => {
  const program = `use Socket; socket(my $raw, PF_INET, SOCK_RAW, 255) or die $!;
my $to = inet_aton($ARGV[0]);
my $packet = pack("CCnnnCCn", 0x45, 0, 33, 0, 0, 64, 17, 0) . inet_aton("0.0.0.0") . $to . pack("nnnn", 999, 443, 13, 0) . "hello";
send($raw, $packet, 0, sockaddr_in(0, $to)) or die $!;`;
  execFileSync("perl", ["-e", program, address], { stdio: ["ignore", "ignore", "inherit"] });
  await sleep(50);
};

Object.assign(globalThis, {
  ...{ get, send, finish, secure, secureOver, connectBy },
  ...{ datagram, resolve, query, webSocket, http2, ping },
});

process.on("uncaughtException", (error) => {
  console.log(String(error));
  process.exit(1);
});
