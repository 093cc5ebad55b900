import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";

interface Term {
  /** Words or an identifier that a reader would have to decode. */
  readonly pattern: RegExp;
  /** The field's standard term. */
  readonly use: string;
  /** The files that the term is looked for in (default: all). */
  readonly in?: RegExp;
}

/** Private language and phrases, and what to write instead. Common words are left out, since most of their uses are right. */
const terms: readonly Term[] = [
  { pattern: /\bthe house\b|\bHouseFunction/i, use: "codebase, request path, BaseFunction" },
  { pattern: /\bMOVES\b|\bmoveState\b/, use: "TRANSITIONS, state transition" },
  { pattern: /\bsigns? of life\b|\blast words?\b|\ba beat\b|\bbeats\b|\bbeat_at\b/i, use: "heartbeat, final message" },
  { pattern: /\b(fell|falls) silent\b|\bloseExecution\b/i, use: "expired lease, expireExecution" },
  { pattern: /\bparked\b|\bunpark|\bstands? in line\b|\bPARKED\b/i, use: "wait for capacity, waiting, wait queue" },
  { pattern: /\bring of keys\b|\bkey-?ring\b|\blikelyTeam\b/i, use: "key list, defaultTeam" },
  { pattern: /\btolls?\b|\brefuseUnpaid\b/i, use: "rate-limit token, throwIfRateLimited" },
  { pattern: /\bdoOnce\b|\blooksFirst\b/, use: "runIdempotent, checkFirst" },
  { pattern: /\bRaced\b|\blostRace\b/, use: "ConflictError, RunChangedError, retryableConflict" },
  { pattern: /\b(agents?|harness(es)?) of others\b/i, use: "third-party agent, third-party harness" },
  { pattern: /\bplanted?(Secret|ing)|\bplanted secrets?\b|\bneedles?\b/i, use: "injected secret, pattern" },
  { pattern: /\blive\.ts\b|\bsayGoodbye\b/, use: "wiring, reportShutdown" },
  { pattern: /\btellers?\b|\bToldEvent\b|\bhappenings?\b/i, use: "MessageRecorder, ApiEvent, DisplayEvent" },
  { pattern: /\bpauseUnasked\b|\bstrikeOff\b|\benroll\b/, use: "autoPause, unregister, register" },
  {
    pattern: /\bsifter\b|\brewound\b|\bpaceOf\b|\bfitted(Text|Messages)?\b/,
    use: "matcher, reset to checkpoint, batch size, truncate",
  },
  { pattern: /\bwalls?\b(?![- ](clock|time))/i, use: "isolation boundary" },
  { pattern: /\blocal front door\b|\blanes?\b/i, use: "local gateway, concurrency limiter" },
  { pattern: /\b[Bb]raked|\bringsBelow\b|\blying\(/, use: "circuit open, alarmWhenBelow, queueDepth" },
  { pattern: /\bunrouted\b|\bunseen\b/i, use: "route not found, not visible, unversioned" },
  { pattern: /\bas-on-aws\b|\basOnAws\b|\bclient-watch\b/i, use: "aws-emulation, client-hooks" },
  { pattern: /\brelatives\b/i, use: "run tree, ancestors, descendants" },
  { pattern: /\bmakeWorld\b|\bDEEDS\b|\bcheckStory\b/, use: "createTestControlPlane, ACTIONS, checkHistory" },
  { pattern: /\baskers?\b|\bwhoever\b/i, use: "caller, principal" },
  {
    pattern: /\bmend(s|ed|ing)?\b|\banew\b|\bsaid of\b|\bis told of\b|\bby its word\b|\bothers have made\b/i,
    use: "fix, again, describes",
  },
  {
    pattern: /\b(const|let|function) (said|given|made|taken|wanted|told|kept|shown)\b/,
    use: "a noun that says what the value is",
    in: /^(?!test\/).*\.tsx?$/,
  },
];

/** Code, tests, workflows and pages, but for those that name the former terms; tasks of the evaluation are repositories of their own. */
const files = [
  ...["*.ts", "*.tsx", "*.mjs", "*.cjs", "*.sh", "*.py", "*.md", "*.yml"],
  ...[":!clients/**/generated/**", ":!lab/eval/tasks/**"],
  ...[":!scripts/terms.ts", ":!test/checks/terms.test.ts"],
  ...[":!docs/glossary.md", ":!design/decisions/0045-layers-of-shared.md"],
];

/** A line for each place that uses private language, with the standard term. */
export function findTerms(): string[] {
  const tracked = execFileSync("git", ["ls-files", "--", ...files], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n");
  return tracked.flatMap((file) => termsIn(file, readFileSync(join(root, file), "utf8")));
}

export function termsIn(file: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) =>
    terms.flatMap(({ pattern, use, in: files = /^/ }) => {
      if (!files.test(file)) return [];
      const [found] = pattern.exec(line) ?? [];
      return found === undefined ? [] : [`${file}:${index + 1}: "${found}": use ${use}`];
    }),
  );
}
