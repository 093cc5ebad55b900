import * as v from "valibot";
import { githubOf } from "#shared/environments/repositories.ts";
import { ScanAnswer } from "#shared/wire/scan.ts";
import { DiscoveryFailure } from "./discovery-failure.ts";
import { type Failure, type FoundSkills, noteCheck, RETRY_SECONDS, readFound, writeFound } from "./found-skills.ts";
import { githubSkills, type ReadFile } from "./github-skills.ts";
import type { DiscoveryPorts } from "./ports.ts";
import { credentialsOf, keyOf, type SkillRepository } from "./repository.ts";
import type { Skill } from "./skill.ts";
import { parseSkill } from "./skill-md.ts";

/** Milliseconds that a sandbox has for looking into a repository. */
const SCAN_MS = 15_000;

interface Looked {
  readonly files: readonly ReadFile[];
  readonly leftOut: number;
  readonly etag?: string;
  readonly failure?: DiscoveryFailure;
}

/** Looks into a repository and keeps what is found, or why it could not be read; what was found before stays then. */
export async function discover(repository: SkillRepository, ports: DiscoveryPorts): Promise<void> {
  const key = keyOf(repository);
  const checkedAt = ports.now();
  const [before] = await readFound([key], ports);
  try {
    const looked = await lookInto(repository, before, ports);
    if (looked === "unchanged") await noteCheck(key, { checkedAt }, ports);
    else await writeFound(key, toFound(looked, before, checkedAt), ports);
  } catch (error) {
    if (!(error instanceof DiscoveryFailure)) throw error;
    const { failure } = error;
    if (before?.found === undefined) await writeFound(key, { failure }, ports);
    else await noteCheck(key, { failure }, ports);
  }
}

function lookInto(
  repository: SkillRepository,
  before: FoundSkills | undefined,
  ports: DiscoveryPorts,
): Promise<Looked | "unchanged"> {
  const onGithub = githubOf(repository.url);
  if (onGithub === undefined) return scanned(repository, ports);
  const known = new Set(before?.found?.skills.map(({ path, sha }) => `${sha} ${path}`));
  const { ref } = repository;
  const token = credentialsOf(repository.url).at(-1);
  return githubSkills(
    { ...onGithub, ref, token },
    { etag: before?.found?.etag, knows: (path, sha) => known.has(`${sha} ${path}`) },
    ports.github,
  );
}

function toFound(
  { files, leftOut, etag, failure }: Looked,
  before: FoundSkills | undefined,
  checkedAt: number,
): FoundSkills {
  const known = new Map(before?.found?.skills.map((skill) => [`${skill.sha} ${skill.path}`, skill]));
  const skills = files.map((file): Skill => {
    const same = file.isKnown ? known.get(`${file.sha} ${file.path}`) : undefined;
    return same ?? parseSkill(file);
  });
  return {
    found: { skills, checkedAt, leftOut, ...(etag === undefined ? {} : { etag }) },
    ...(failure === undefined ? {} : { failure: failure.failure }),
  };
}

/** The skills of a repository that git has to be asked about, which only a sandbox may do. */
async function scanned({ url, ref }: SkillRepository, { scanner, now }: DiscoveryPorts): Promise<Looked> {
  const failed = (code: Failure["code"], message: string) =>
    new DiscoveryFailure(code, message, now() + RETRY_SECONDS * 1000);
  const request = { v: 1, kind: "scan", url, ...(ref === undefined ? {} : { ref }), time_limit_ms: SCAN_MS } as const;
  const answer = await scanner.scan(request).catch(() => {
    throw failed("resource_unavailable", "the sandbox that looks into repositories did not answer");
  });
  const parsed = v.safeParse(ScanAnswer, answer);
  if (!parsed.success) {
    throw failed("resource_unavailable", "the sandbox that looked into the repository answered nothing sensible");
  }
  const { output } = parsed;
  if (output.outcome === "found") return { files: output.files, leftOut: output.left_out };
  throw failed(
    output.reason === "unreadable" ? "resource_not_found" : "resource_unavailable",
    output.reason === "no_git"
      ? "this deployment's sandboxes have no git, by which repositories outside GitHub are read"
      : output.message,
  );
}
