import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { signWebhook } from "#shared/webhooks/signature.ts";

const example = path.resolve(import.meta.dirname, "../../examples/mail");
const SECRET = `whsec_${Buffer.from("a-signing-secret-of-a-webhook").toString("base64")}`;
const WEBHOOK = "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e";
const EVENT = {
  type: "schedule_failed",
  timestamp: "2026-05-18T19:04:11.201Z",
  data: {
    webhook_uid: WEBHOOK,
    sequence: 42,
    schedule_id: "nightly",
    title: "Nächtlicher Lauf 🌙\r\nBcc: mallory@example.com",
    event: { scheduled_at: "2026-05-18T03:00:00.000Z", reason: "the queue is full" },
  },
};
const BODY = JSON.stringify(EVENT);
const SUBJECT = "[Runyard] Schedule failed: Nächtlicher Lauf 🌙 Bcc: mallory@example.com";
const TEXT = [
  "Schedule failed: Nächtlicher Lauf 🌙 Bcc: mallory@example.com",
  "",
  "Reason: the queue is full",
  "Due at: 2026-05-18T03:00:00.000Z",
  "Schedule: nightly",
  "Time: 2026-05-18T19:04:11.201Z",
  "",
].join("\n");

const sign = (secret: string, at = Date.now()) => signWebhook([secret], `${WEBHOOK}.42`, at, BODY);

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "runyard-mail-"));
});
afterEach(async () => rm(folder, { recursive: true }));

describe("template.yaml", () => {
  test("has the code of mail.cjs, within the size of code in a template", async () => {
    const code = await readFile(path.join(example, "mail.cjs"), "utf8");
    const text = await readFile(path.join(example, "template.yaml"), "utf8");
    expect(parse(text, { logLevel: "silent" }).Resources.Mail.Properties.Code.ZipFile).toBe(code);
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(4096);
  });
});

describe("mail.cjs on AWS Lambda", () => {
  /** Puts a client of SES next to the code that keeps the mails, as the runtime has its own. */
  async function load() {
    const client = path.join(folder, "node_modules/@aws-sdk/client-sesv2");
    await mkdir(client, { recursive: true });
    const sesv2 = `exports.sent = [];
exports.SendEmailCommand = class { constructor(input) { this.input = input; } };
exports.SESv2Client = class { async send({ input }) { exports.sent.push(input); } };`;
    await writeFile(path.join(client, "index.js"), sesv2);
    await copyFile(path.join(example, "mail.cjs"), path.join(folder, "index.cjs"));
    const load = createRequire(path.join(folder, "index.cjs"));
    Object.assign(process.env, {
      WEBHOOK_SECRET: SECRET,
      MAIL_FROM: "a@b.example",
      MAIL_TO: "c@d.example,e@f.example",
    });
    const { handler } = load("./index.cjs");
    return { handler, sent: load("@aws-sdk/client-sesv2").sent };
  }
  afterEach(() => {
    for (const name of ["WEBHOOK_SECRET", "MAIL_FROM", "MAIL_TO"]) delete process.env[name];
  });

  test("sends one mail for an event, whose title is on one line", async () => {
    const { handler, sent } = await load();
    const isBase64Encoded = true;
    const body = Buffer.from(BODY).toString("base64");
    expect(await handler({ headers: sign(SECRET), body: BODY })).toEqual({ statusCode: 204 });
    expect(await handler({ headers: sign(SECRET), body, isBase64Encoded })).toEqual({ statusCode: 204 });
    const mail = {
      FromEmailAddress: "a@b.example",
      Destination: { ToAddresses: ["c@d.example", "e@f.example"] },
      Content: { Simple: { Subject: { Data: SUBJECT }, Body: { Text: { Data: TEXT } } } },
    };
    expect(sent).toEqual([mail, mail]);
  });

  test("refuses a wrong and an old signature, and every one before it has the secret", async () => {
    const { handler, sent } = await load();
    const other = `whsec_${Buffer.from("another").toString("base64")}`;
    const requests = [sign(other), sign(SECRET, Date.now() - 301_000), sign(SECRET, Date.now() + 301_000), {}];
    for (const headers of requests) expect(await handler({ headers, body: BODY })).toEqual({ statusCode: 401 });
    expect(await handler({ headers: sign(SECRET), body: `${BODY} ` })).toEqual({ statusCode: 401 });
    process.env["WEBHOOK_SECRET"] = "";
    const unsigned = { ...sign(SECRET), "webhook-signature": "v1," };
    expect(await handler({ headers: unsigned, body: BODY })).toEqual({ statusCode: 401 });
    expect(sent).toEqual([]);
  });
});

describe("server.cjs", () => {
  /** A server that accepts mails by SMTP, except to an address at `full.example`. */
  async function startSmtp() {
    const mails: { readonly to: string[]; readonly data: string }[] = [];
    const server = createServer((socket) => {
      let [to, data, isData]: [string[], string, boolean] = [[], "", false];
      let rest = "";
      const reply = (line: string) => socket.write(`${line}\r\n`);
      const handle = (line: string) => {
        if (isData && line === ".") {
          mails.push({ to, data });
          [to, data, isData] = [[], "", false];
          reply("250 queued");
          return;
        }
        if (isData) {
          data += `${line}\n`;
          return;
        }
        const [, receiver] = /^RCPT TO:<(.*)>/i.exec(line) ?? [];
        const isFull = receiver?.endsWith("@full.example") === true;
        if (receiver !== undefined && !isFull) to.push(receiver);
        isData = /^DATA/i.test(line);
        reply(isFull ? "452 full" : isData ? "354 go on" : /^QUIT/i.test(line) ? "221 bye" : "250 ok");
      };
      reply("220 smtp.example");
      socket.on("error", () => undefined);
      socket.on("data", (chunk) => {
        const lines = (rest + chunk.toString()).split("\r\n");
        rest = lines.pop() ?? "";
        for (const line of lines) handle(line);
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    return { mails, server, port: typeof address === "object" && address !== null ? address.port : 0 };
  }

  async function startReceiver(settings: Record<string, string>): Promise<{ url: string; process: ChildProcess }> {
    const env = { PATH: process.env["PATH"], TMPDIR: folder, WEBHOOK_SECRET: SECRET, PORT: "0", ...settings };
    const child = spawn(process.execPath, [path.join(example, "server.cjs")], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [line] = await once(child.stdout, "data");
    return { url: String(line).replace("Listening on ", "").trim(), process: child };
  }

  test("sends one mail for an event by SMTP, and asks for another attempt if it is not accepted", async () => {
    const { mails, server, port } = await startSmtp();
    const smtp = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "runyard@example.com" };
    const receivers = [
      await startReceiver({ ...smtp, MAIL_TO: "ada@example.com, bo@example.com" }),
      await startReceiver({ ...smtp, MAIL_TO: "ada@full.example" }),
    ];
    try {
      const send = async (index: number, headers: Record<string, string>) =>
        (await fetch(receivers[index]?.url ?? "", { method: "POST", headers, body: BODY })).status;
      expect(await send(0, sign(SECRET))).toBe(204);
      expect(await send(0, sign("whsec_YW5vdGhlcg=="))).toBe(401);
      expect(await send(1, sign(SECRET))).toBe(502);
      expect(mails).toHaveLength(1);
      expect(mails[0]?.to).toEqual(["ada@example.com", "bo@example.com"]);
      const [head = "", ...content] = (mails[0]?.data ?? "").split("\n\n");
      expect(Buffer.from(content.join(""), "base64").toString()).toBe(TEXT);
      const subject = head.replaceAll("\n ", "").match(/^Subject: (.*)$/m)?.[1] ?? "";
      const words = [...subject.matchAll(/=\?utf-8\?B\?(.*?)\?=/g)];
      expect(words.map(([, word = ""]) => Buffer.from(word, "base64").toString()).join("")).toBe(SUBJECT);
      expect(head).not.toMatch(/^Bcc/m);
    } finally {
      for (const { process: child } of receivers) child.kill();
      server.close();
    }
  });
});
