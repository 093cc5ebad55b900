import { randomBytes, randomInt } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { deliver, workingRun } from "../../support/execution.ts";
import { runHarness } from "../support/run-harness.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const base62 = (length: number) => Array.from({ length }, () => ALPHABET[randomInt(62)]).join("");
const pick = <T>(items: readonly [T, ...T[]]): T => items[randomInt(items.length)] ?? items[0];
const lines = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, "g"))?.join("\n") ?? "";

/** Ten kinds of secrets that teams have; each call creates another value. */
const kinds: Readonly<Record<string, (index: number) => string>> = {
  "a random word": () => base62(randomInt(16, 40)),
  "a private key": () =>
    `-----BEGIN PRIVATE KEY-----\n${lines(randomBytes(randomInt(96, 160)).toString("base64"), 64)}\n-----END PRIVATE KEY-----\n`,
  "JSON credentials": () =>
    JSON.stringify({
      type: "service_account",
      private_key: `-----BEGIN KEY-----\n${lines(base62(120), 60)}\n-----END KEY-----\n`,
      client_secret: base62(24),
      auth_uri: "https://accounts.example.com/auth",
    }),
  "characters of the shell": () => `${base62(6)}'"$(id)\`\\${base62(5)}|&;<>*?[!#~ ${base62(4)}%{}^`,
  "other alphabets": () => `пароль${base62(5)}密碼😀ñ${base62(6)}ﷺé`,
  "a short one": () => base62(randomInt(4, 8)),
  "a piece of a URL": () => `p%40ss%2F${base62(8)}%25+${base62(6)}%20=&?#${base62(3)}`,
  "base64 with padding": () => randomBytes(pick([31, 32, 34, 35])).toString("base64"),
  "four kilobytes": () => base62(4_096),
  "one that begins or holds another": (index) =>
    FAMILY.slice(0, 12 + index * 3) + (index % 3 === 0 ? "" : base62(index)),
};
const FAMILY = base62(100);
const EACH = 20;
const secrets = Object.entries(kinds).flatMap(([kind, make], at) =>
  Array.from({ length: EACH }, (_, index) => ({ kind, name: `PLANTED_${at}_${index}`, value: make(index) })),
);

/** The ways a command prints its variable, a line of Python each; `s` is the value, `b` its bytes. */
const PRINTED = [
  "print(s)",
  "print('x' + s + 'y')",
  "print(B.b64encode(b).decode())",
  "print(B.b64encode(b'1' + b + b'2').decode())",
  "print(B.b64encode(b'12' + b + b'3').decode())",
  "print(B.urlsafe_b64encode(b).decode(), B.urlsafe_b64encode(b'~' + b).decode().rstrip('='))",
  "print(B.encodebytes(b).decode())",
  "print(textwrap.fill(B.b64encode(b'ab' + b).decode(), 64))",
  "print(U.quote(s), U.quote(s, safe=''), U.quote_plus(s))",
  "print(b.hex(), b.hex().upper(), b.hex(' '), b.hex(':').replace(':', ''))",
  "print(json.dumps({'a': s}), json.dumps(s, ensure_ascii=False), json.dumps(json.dumps(s)))",
  "print(shlex.quote(s)); print(html.escape(s))",
  "sys.stdout.flush()",
  "for c in (b[:len(b)//2], b[len(b)//2:]): sys.stdout.buffer.write(c); sys.stdout.flush(); time.sleep(0.01)",
  "print(); print('\\n'.join(s[i:i+20] for i in range(0, len(s), 20)))",
  "sys.stdout.flush(); os.write(2, b)",
];
const HEADER = "import os, sys, json, html, shlex, time, textwrap, base64 as B, urllib.parse as U";
/** The independent lines. Each command prints a long value in one way only, so that its output is not truncated. */
const WHOLE = PRINTED.flatMap((line, index) => (/^(for|sys|print\(\);)/.test(line) ? [] : [index]));
function command({ name, kind }: (typeof secrets)[number], index: number): string {
  const ways = kind === "four kilobytes" ? [PRINTED[WHOLE[index % WHOLE.length] ?? 0] ?? ""] : PRINTED;
  const program = [HEADER, `s = os.environ['${name}']; b = s.encode()`, ...ways];
  return `python3 - <<'EOF'\n${program.join("\n")}\nEOF`;
}

/** The texts that must not appear for a value: itself, its lines, and all of its encodings. */
function encodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const parts = value.includes("\n")
    ? value.split("\n").filter((line) => line.length >= 12 && !line.startsWith("--"))
    : [];
  const shifted = ["", "1", "12"].map((before) => {
    const encoded = Buffer.from(before + value).toString("base64");
    return encoded.slice(before === "" ? 0 : 4, 4 * Math.floor((before.length + bytes.length) / 3));
  });
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value.trim(),
    ...parts,
    ...shifted.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    encodeURIComponent(value),
    json,
    escapeNonAscii(json),
  ].filter((text) => text.length >= 4);
}
const escapeNonAscii = (text: string) =>
  text.replace(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Ids and times, which contain four characters of a short value by chance. */
const RANDOM = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
/** Without white space, and with one backslash where JSON within JSON has several. */
const dense = (text: string) => text.replace(/\\n|\s+/g, "").replace(/\\+(?=u[\da-f]{4})/g, "\\");

/** Returns the secrets that a text still contains in whole or in part. */
function leaked(text: string): string[] {
  const whole = dense(text.replace(RANDOM, ""));
  return secrets
    .filter(({ value }) => {
      if (encodings(value).some((encoding) => whole.includes(dense(encoding)))) return true;
      // A long piece counts too: a text must not be truncated in the middle of a secret.
      const pieces = Array.from({ length: Math.floor(value.length / 24) }, (_, at) =>
        value.slice(24 * at, 24 * at + 24),
      );
      return pieces.some(
        (piece) => piece.length === 24 && !/[\s-]/.test(piece) && whole.includes(dense(piece)) && !isWord(piece),
      );
    })
    .map(({ kind, name }) => `${kind} (${name})`);
}
/** The parts of a document that are the same in all. */
const isWord = (piece: string) =>
  JSON.stringify({ type: "service_account", auth_uri: "https://accounts.example.com/auth" }).includes(piece) ||
  piece.includes("service_account") ||
  piece.includes("example.com");

describe("two hundred secrets of ten kinds, injected into a run", () => {
  let plane: FakeControlPlane;
  let log = "";
  beforeAll(async () => {
    const all = secrets.map(command);
    const last = secrets.find(({ kind }) => kind === "characters of the shell");
    const word = secrets[0]?.name ?? "";
    all.push(
      `echo made > "$RUNYARD_OUTPUT/report-$${word}.txt"; mkdir -p "$RUNYARD_OUTPUT/dir-$${word}"; echo x > "$RUNYARD_OUTPUT/dir-$${word}/a"`,
      `echo "the final words of $${last?.name}" >&2; mkdir "at-$${word}"; cd "at-$${word}"; exit 7 # ${last?.value}`,
    );
    const prompt = all.map((text) => `\`\`\`sh\n${text}\n\`\`\`\n`).join("\n");
    const setup_commands = [`true ${secrets[1]?.value.split("\n")[1]}`, `echo "$${word}"`];
    plane = await FakeControlPlane.start({
      prompt,
      context: { secrets: secrets.map(({ name, value }) => ({ name, value })), setup_commands },
    });
    ({ log } = await runHarness(plane));
    await plane[Symbol.asyncDispose]();
  }, 1_800_000);

  it("are available to each command, which prints more than masks", () => {
    expect(secrets).toHaveLength(200);
    expect(plane.results).toHaveLength(202);
    expect(plane.outcome?.summary).toMatch(/^Step 202 of 202 failed/);
    expect(leaked(secrets.map(({ value }) => value).join("\n"))).toHaveLength(200);
    const forms = secrets.flatMap(({ value }) =>
      value.length < 12 ? [] : (["base64", "hex"] as const).map((form) => Buffer.from(`0${value}`).toString(form)),
    );
    expect(forms.filter((form) => leaked(form).length === 0)).toEqual([]);
    const unmarked = plane.outputs.slice(0, 200).filter((text) => !text.includes("***"));
    expect(unmarked).toEqual([]);
  });

  it("are in no message, event, name, summary or log line that leaves the sandbox", () => {
    // Files are kept byte for byte, those of artifacts and those of snapshots.
    const calls = plane.calls.filter(({ path }) => !/^\/(upload|snapshot)\//.test(path));
    const sent = calls.map(({ path, raw }) => path + raw.toString());
    expect(leaked(sent.join("\n"))).toEqual([]);
    expect(leaked(JSON.stringify(plane.messages))).toEqual([]);
    expect(leaked(JSON.stringify(plane.events))).toEqual([]);
    expect(leaked(log)).toEqual([]);
    expect([...plane.artifacts.keys()].join()).not.toContain(secrets[0]?.value);
  });

  it("are in no response about the run", async () => {
    const controlPlane = await createTestControlPlane();
    const harness = await workingRun(controlPlane);
    for (const { path, body } of plane.calls) {
      const call = /\/(messages|finish-task|client-events)$/.exec(path)?.[1];
      const response =
        call === "client-events"
          ? await harness.event(body)
          : call === undefined
            ? undefined
            : await harness.support(call, call === "messages" ? { ...body, execution_id: harness.execution_id } : body);
      expect([undefined, 200]).toContain(response?.status);
    }
    await deliver(controlPlane);
    const user = createClient(controlPlane);
    const run = `/agent/runs/${harness.run_id}`;
    const paths = ["", "/timeline?limit=500", "/conversation?limit=500", "/events?after=0", "/response"];
    for (const path of paths) {
      const { status, body } = await user.get(run + path);
      expect(status, path).toBe(200);
      expect(leaked(JSON.stringify(body)), path).toEqual([]);
    }
    const transcript = await user.get(`${run}/transcript`);
    expect(leaked(await controlPlane.download(String(transcript.headers["location"])))).toEqual([]);
    expect(leaked(JSON.stringify(controlPlane.table.all()))).toEqual([]);
  });
});

describe("credentials in JSON", () => {
  it("are secret in members whose name indicates one", async () => {
    const value = JSON.stringify({
      type: "service_account",
      private_key: "a-b-c-d-private",
      token_uri: "https://example.com/token",
    });
    await using other = await FakeControlPlane.start({
      prompt: '```sh\necho "$CREDENTIALS" | python3 -c "import json, sys; print(*json.load(sys.stdin).values())"\n```',
      context: { secrets: [{ name: "CREDENTIALS", value }] },
    });
    await runHarness(other);
    expect(other.outputs).toEqual(["service_account *** https://example.com/token\n"]);
  });
});
