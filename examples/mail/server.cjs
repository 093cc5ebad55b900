// Sends events of webhooks as mails by SMTP, on the machine of the service: see README.md.
const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { isGenuine, toMail } = require("./mail.cjs");

const MAX_BODY_BYTES = 1024 * 1024;
const SEND_SECONDS = 8;
const { WEBHOOK_SECRET = "", SMTP_URL, SMTP_USER, MAIL_FROM = "", MAIL_TO = "", PORT = "8025" } = process.env;
if (!WEBHOOK_SECRET || !SMTP_URL || !MAIL_FROM || !MAIL_TO) {
  process.stderr.write("Set WEBHOOK_SECRET, SMTP_URL, MAIL_FROM and MAIL_TO; see README.md.\n");
  process.exit(2);
}
const receivers = MAIL_TO.split(",").map((address) => address.trim());

// Curl reads the password from a file of its own, since all users of a machine see the arguments of a program.
const folder = mkdtempSync(join(tmpdir(), "runyard-mail-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
const quote = (value) => `"${value.replace(/["\\]/g, "\\$&")}"`;
const isLocal = /^smtp:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(SMTP_URL);
const settings = [
  `url = ${quote(SMTP_URL)}`,
  `mail-from = ${quote(MAIL_FROM)}`,
  ...receivers.map((address) => `mail-rcpt = ${quote(address)}`),
  ...(SMTP_USER ? [`user = ${quote(SMTP_USER)}`] : []),
  ...(isLocal ? [] : ["ssl-reqd"]),
];
const file = join(folder, "curl");
writeFileSync(file, settings.join("\n"), { mode: 0o600 });
const curl = ["--silent", "--show-error", "--max-time", String(SEND_SECONDS), "--config", file, "--upload-file", "-"];

/** A text in a header, as encoded words (RFC 2047) of at most 75 characters. */
function toEncodedWords(text) {
  const words = [""];
  for (const character of text) {
    if (Buffer.byteLength(words.at(-1) + character) > 42) words.push("");
    words[words.length - 1] += character;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}

function send({ subject, text }, id) {
  const message = [
    `From: ${MAIL_FROM}`,
    `To: ${receivers.join(", ")}`,
    `Subject: ${toEncodedWords(subject)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${id.replace(/[^\w.-]/g, "")}@runyard>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...(Buffer.from(text)
      .toString("base64")
      .match(/.{1,76}/g) ?? []),
    "",
  ].join("\r\n");
  return new Promise((resolve) => {
    const child = spawn("curl", curl, { stdio: ["pipe", "ignore", "inherit"] });
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
    child.stdin.on("error", () => undefined);
    child.stdin.end(message);
  });
}

async function respond(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (request.method !== "POST" || !isGenuine(request.headers, body, WEBHOOK_SECRET)) return 401;
  // The service attempts an event again whose mail was not accepted.
  return (await send(toMail(JSON.parse(body.toString("utf8"))), String(request.headers["webhook-id"]))) ? 204 : 502;
}

createServer((request, response) => {
  respond(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end(),
  );
}).listen(Number(PORT), "127.0.0.1", function () {
  process.stdout.write(`Listening on http://127.0.0.1:${this.address().port}\n`);
});
