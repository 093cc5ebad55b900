import * as v from "valibot";
import { isOnForeignDisk, ON_FOREIGN_DISK, parseGithubUrl } from "#shared/environments/repositories.ts";
import { ScanResult } from "#shared/wire/scan.ts";
import { DiscoveryFailure } from "./discovery-failure.ts";
import { findGithubSkills, type ReadFile } from "./github-skills.ts";
import { parseCredentials, type SkillRepository, toStorageKey } from "./repository.ts";
import type { Skill } from "./skill.ts";
import { parseSkill } from "./skill-md.ts";
import type { DiscoveryPorts } from "./skill-ports.ts";
import { type Failure, type FoundSkills, noteCheck, RETRY_SECONDS, readFound, writeFound } from "./skill-store.ts";

/** Milliseconds that a sandbox has for scanning a repository. */
const SCAN_MS = 15_000;

interface Discovered {
  readonly files: readonly ReadFile[];
  readonly leftOut: number;
  readonly etag?: string;
  readonly failure?: DiscoveryFailure;
}

/** Discovers the skills of a repository and stores them, or why it could not be read; the skills found before stay then. */
export async function discover(repository: SkillRepository, ports: DiscoveryPorts): Promise<void> {
  const key = toStorageKey(repository);
  const checkedAt = ports.now();
  const [before] = await readFound([key], ports);
  try {
    const discovered = await findSkills(repository, before, ports);
    if (discovered === "unchanged") await noteCheck(key, { checkedAt }, ports);
    else await writeFound(key, toFound(discovered, before, checkedAt), ports);
  } catch (error) {
    if (!(error instanceof DiscoveryFailure)) throw error;
    const { failure } = error;
    if (before?.found === undefined) await writeFound(key, { failure }, ports);
    else await noteCheck(key, { failure }, ports);
  }
}

function findSkills(
  repository: SkillRepository,
  before: FoundSkills | undefined,
  ports: DiscoveryPorts,
): Promise<Discovered | "unchanged"> {
  const onGithub = parseGithubUrl(repository.url);
  if (onGithub === undefined) return scanRepository(repository, ports);
  const known = new Set(before?.found?.skills.map(({ path, sha }) => `${sha} ${path}`));
  const { ref, teams } = repository;
  const token = parseCredentials(repository.url).at(-1);
  return findGithubSkills(
    { ...onGithub, ref, token, teams },
    { etag: before?.found?.etag, knows: (path, sha) => known.has(`${sha} ${path}`) },
    ports.github,
  );
}

function toFound(
  { files, leftOut, etag, failure }: Discovered,
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

/** Scans a repository with git, which only a sandbox may run. */
async function scanRepository({ url, ref }: SkillRepository, { scanner, now }: DiscoveryPorts): Promise<Discovered> {
  const failed = (code: Failure["code"], message: string) =>
    new DiscoveryFailure(code, message, now() + RETRY_SECONDS * 1000);
  // An environment may have been stored while the service was for its own machine only.
  if (isOnForeignDisk(url)) throw failed("resource_not_found", `the repository ${ON_FOREIGN_DISK}`);
  const request = { v: 1, kind: "scan", url, ...(ref === undefined ? {} : { ref }), time_limit_ms: SCAN_MS } as const;
  const response = await scanner.scan(request).catch(() => {
    throw failed("resource_unavailable", "the sandbox that scans repositories did not respond");
  });
  const parsed = v.safeParse(ScanResult, response);
  if (!parsed.success) {
    throw failed("resource_unavailable", "the sandbox that scanned the repository sent an invalid response");
  }
  const { output } = parsed;
  if (output.outcome === "found") return { files: output.files, leftOut: output.left_out };
  throw failed(
    output.reason === "unreadable" ? "resource_not_found" : "resource_unavailable",
    output.reason === "no_git"
      ? "this deployment's sandboxes have no git, which is needed to read repositories outside GitHub"
      : output.message,
  );
}
