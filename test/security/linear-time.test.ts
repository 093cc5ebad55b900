import { cpuUsage } from "node:process";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { parseEvents } from "#harness/agent/dialects/events.ts";
import { findShellBlocks } from "#harness/engine/runbook.ts";
import { findSecretMembers } from "#harness/redaction/encodings.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { cutBytes, toWellFormed } from "#harness/support/text-limits.ts";
import { createLines } from "#harness/third-party/lines.ts";
import { findGithubRepository } from "#harness/tools/remote/github-token.ts";
import { attachmentDisposition } from "#shared/files/file-store.ts";
import { parseQuery } from "#shared/http/request.ts";
import { routeNotFoundError } from "#shared/http/route-not-found.ts";
import { parseKey } from "#shared/principals/api-key.ts";
import { deriveTitle, statusText } from "#shared/records/run.ts";
import { createTextMatcher } from "#shared/runs/listing/fuzzy-search.ts";
import { parseTimetable } from "#shared/schedules/cron.ts";
import { toBaseUrl } from "#shared/skills/repository.ts";
import { parseSkill } from "#shared/skills/skill-md.ts";
import { MCPServerConfig, Repository, SkillSpec } from "#shared/wire/config.ts";
import { HttpsUrl, Timestamp } from "#shared/wire/primitives.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { FileName, MimeType } from "#shared/wire/run.ts";
import { parseRepositoryIdentity, splitFrontMatter } from "#shared/wire/skills/skill-file.ts";
import { CreateInvitationRequest } from "#shared/wire/team.ts";
import { formatSummary } from "../../action/summary.ts";
import { toDisplayEvents } from "../../cli/src/follow/display-events.ts";
import { oneLine, printable, terminalJson, terminalLine, terminalText } from "../../cli/src/terminal-text.ts";
import { timeText } from "../../cli/src/time-text.ts";
import { BadRequestError, toAPIError } from "../../clients/typescript/src/errors.ts";
import { waitBeforeRepeat } from "../../clients/typescript/src/retry.ts";
import { parseDuration } from "../../web/ui/format.ts";
import { revealHidden } from "../../web/ui/hidden-characters.ts";
import { isPlainText } from "../../web/ui/markdown/plain-text.ts";
import { safeUrl } from "../../web/ui/safe-url.ts";
import { flattenTerminal, toSpans } from "../../web/ui/terminal/ansi.ts";
import { RUN } from "../cli/responses.ts";

const check = (schema: v.GenericSchema) => (text: string) => v.safeParse(schema, text).success;
const refusal = (status: number, body: string, headers = {}) =>
  toAPIError(new Response(null, { status, headers }), body);
const redactor = createRedactor(["a-secret-value", "  spaces and\nlines  "]);
const isAbout = createTextMatcher("release notes");
const { title: _title, ...untitled } = RUN;

/** Every function that reads untrusted text with a regular expression or our own parser. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "web: hidden characters": revealHidden,
  "web: the output of a command": (text) => toSpans(flattenTerminal(text)),
  "web: the text of a message": isPlainText,
  "web: the address of a link": safeUrl,
  "web: a duration": parseDuration,
  "cli: text": printable,
  "cli: a line": oneLine,
  "cli: styled text": terminalText,
  "cli: a styled line": terminalLine,
  "cli: JSON": (text) => terminalJson(JSON.stringify(text)),
  "cli: a time": (text) => timeText(text, "UTC"),
  "cli: an event": (text) =>
    toDisplayEvents({ type: "setup_commands", occurred_at: text, data: { name: text, detail: text } }),
  "action: the summary": (text) => formatSummary({ ...untitled, title: text, state: "FAILED", source: "CLI" }, text),
  "clients: a refusal": (text) => refusal(400, text).message,
  "clients: retry-after": (text) => {
    const after = text.replace(/[^\x21-\x7e]/g, "x");
    return waitBeforeRepeat(refusal(503, "{}", { "retry-after": after }), 1);
  },
  "harness: git's output": maskUrlUsers,
  "harness: a command's output": (text) => cutBytes(toWellFormed(text), 1_000),
  "harness: redaction": (text) => redactor.text(text),
  "harness: a secret's members": findSecretMembers,
  "harness: the events of a stream": parseEvents,
  "harness: the lines of an agent, in small pieces": (text) => {
    const lines = createLines(() => {});
    for (let at = 0; at < text.length; at += 64) lines.push(Buffer.from(text.slice(at, at + 64)));
    return lines.end();
  },
  "harness: a repository's name": (text) =>
    findGithubRepository(text, { repositories: [{ url: text }], secrets: { GH_TOKEN: "t" } }),
  "shared: a file's name in a header": attachmentDisposition,
  "shared: a query string": parseQuery,
  "shared: a path without a route": (text) =>
    routeNotFoundError([["GET", "/agent/runs/{runId}"]], "GET", `/api/v1${text}`),
  "shared: an API key": parseKey,
  "shared: a title to search in": isAbout,
  "shared: a title of a prompt": (text) => deriveTitle(text, undefined),
  "shared: a status": statusText,
  "shared: a cron": (text) => parseTimetable(text, "UTC"),
  "shared: a repository's URL": toBaseUrl,
  "shared: a SKILL.md": (text) => parseSkill({ path: ".agents/skills/a/SKILL.md", sha: "a", text }),
  "wire: front matter": splitFrontMatter,
  "wire: the identity of a repository": parseRepositoryIdentity,
  "wire: a skill": check(SkillSpec),
  "wire: a repository": (text) =>
    [{ url: text }, { url: "https://a.test/b", path: text }, { url: "https://a.test/b", ref: text }].map(
      (one) => v.safeParse(Repository, one).success,
    ),
  "wire: an MCP server": (text) => v.safeParse(MCPServerConfig, { url: text }).success,
  "wire: a link": check(HttpsUrl),
  "wire: a timestamp": check(Timestamp),
  "wire: a media type": check(MimeType),
  "wire: a file's name": check(FileName),
  "wire: an e-mail address": (text) => v.safeParse(CreateInvitationRequest, { email: text }).success,
};

/** A valid beginning, a part that repeats, and an invalid end. */
const SHAPES: readonly (readonly [begin: string, unit: string, end: string])[] = [
  ...[" ", "\t", "\n", "\r", "\r\n", "/", "a", "-", "=", "?", "#", ".", "0", "*", ":", "\u001b[", "%", "&"].map(
    (unit) => ["", unit, "x\n!"] as const,
  ),
  ...["https://a.test/", "a@b", "a/b", "---\n"].flatMap((begin) =>
    ["/", "a", " ", "?", "a@", "; a=b", "/../"].map((unit) => [begin, unit, "\n!"] as const),
  ),
  ["", "\uFEFF---\n", "x"],
  ["---\n", "---   x\n", ""],
  ["---\n", "a: b\n", ""],
  ["", "data: x\n", ""],
  ["{", '"a":', ""],
  ["", "\u001b[0;", "x"],
  ["", "release note ", "x"],
  ["", "://", "x"],
  ["", "a+", "x"],
];
const BYTES = 1_000_000;
const fill = ([begin, unit, end]: (typeof SHAPES)[number], length: number) =>
  begin + unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + end;

/** Returns the processor time of this process in milliseconds, which other processes hardly affect. */
function measureTime(read: (text: string) => unknown, text: string): number {
  const before = cpuUsage();
  try {
    read(text);
  } catch {
    // A rejection is a valid result: only its time counts.
  }
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}

/** The factor by which eight times the text takes longer: 8 where the time is linear, 64 where it is quadratic. */
const FACTOR = 24;
/** Shorter times are noise. */
const NOISE_MS = 60;

function describeGrowth(read: (text: string) => unknown, shape: (typeof SHAPES)[number]): string | undefined {
  let earlier = measureTime(read, fill(shape, BYTES / 64));
  for (const length of [BYTES / 8, BYTES]) {
    const text = fill(shape, length);
    const isSlow = (time: number) => time > NOISE_MS && time > FACTOR * Math.max(earlier, NOISE_MS / FACTOR);
    const time = measureTime(read, text);
    // A garbage collection may affect one measurement, but hardly two.
    if (isSlow(time) && isSlow(measureTime(read, text)))
      return `${JSON.stringify(shape)}: ${earlier} ms, then ${time} ms for ${length} characters`;
    earlier = time;
  }
  return undefined;
}

describe("text of a megabyte", () => {
  it.each(Object.entries(READERS))("is read in linear time: %s", (_, read) => {
    expect(SHAPES.map((shape) => describeGrowth(read, shape)).filter((found) => found !== undefined)).toEqual([]);
  });

  it("is read in linear time: shell blocks of Markdown", () => {
    const shapes = [
      ["", "```sh\ntrue\n```\n", ""],
      ["", "a *b* ", ""],
      ["", "[", ""],
      ["", "- a\n", ""],
      ["", " ", "x"],
    ];
    const found = shapes.map(([begin = "", unit = "", end = ""]) =>
      describeGrowth(findShellBlocks, [begin, unit, end]),
    );
    expect(found.filter((one) => one !== undefined)).toEqual([]);
  });

  it("is read with the same results as short text", () => {
    const spaces = " ".repeat(BYTES);
    const slashes = "/".repeat(BYTES);
    expect(flattenTerminal(`a${spaces}b${spaces}\n`).trimEnd()).toBe(`a${spaces}b`);
    expect(parseRepositoryIdentity(`https://a.test/o/r.git${slashes}?${"?\n".repeat(1000)}`)).toEqual({
      owner: "o",
      name: "r",
    });
    expect(toBaseUrl(`https://user@a.test/o/r.git${slashes}`)).toBe("https://a.test/o/r");
    const matter = "name: a\n".repeat(BYTES / 8);
    expect(splitFrontMatter(`---\n${matter}---\nbody`)).toEqual({ matter, body: "body" });
    expect(splitFrontMatter("\uFEFF---\n".repeat(1000))).toEqual({ body: "\uFEFF---\n".repeat(1000) });
    expect(splitFrontMatter("---\r\na: b\r\n---  \r\nbody")).toEqual({ matter: "a: b\r\n", body: "body" });
    expect(splitFrontMatter("---\n---")).toEqual({ matter: "", body: "" });
    expect(maskUrlUsers(`${"a".repeat(BYTES)} https://u:p@h`)).toBe(`${"a".repeat(BYTES)} https://***@h`);
    expect(refusal(400, "x".repeat(BYTES))).toBeInstanceOf(BadRequestError);
  });
});
