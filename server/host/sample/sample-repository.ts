import { cp, mkdir, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Repository } from "#shared/wire/config.ts";
import { lastLines, runCommand } from "../commands.ts";
import { type LocalPaths, projectRoot } from "../paths.ts";
import { Problem } from "../terminal.ts";

export interface SampleSource {
  repositories: Repository[];
  /** Where the skill comes from: one of the repositories, by its name. */
  skill: string;
  /** What a person reads: which repository, and why not another one. */
  remark: string;
}

const SKILL_NAME = "repository-report";

/** Decides which repository the sample run inspects, and from which clone its skill is taken. */
export async function sampleSource(paths: LocalPaths, repo: string | undefined): Promise<SampleSource> {
  const checkout = await committedCheckout();
  if (repo !== undefined) {
    const target = await targetUrl(repo);
    const own = checkout.usable ? await checkoutUrl(paths) : await exampleRepository(paths);
    return {
      repositories: [
        { url: target, path: folderFor(target) },
        { url: own, path: ".runyard-skills" },
      ],
      skill: toSkillSpec(own),
      remark: repo,
    };
  }
  if (checkout.usable) {
    const url = await checkoutUrl(paths);
    return { repositories: [{ url }], skill: toSkillSpec(url), remark: "this checkout, as committed" };
  }
  const url = await exampleRepository(paths);
  return { repositories: [{ url }], skill: toSkillSpec(url), remark: `the bundled example, because ${checkout.why}` };
}

async function committedCheckout(): Promise<{ usable: true } | { usable: false; why: string }> {
  const top = await git(projectRoot, ["rev-parse", "--show-toplevel"]);
  if (top.code !== 0) return { usable: false, why: "this checkout is not a git repository" };
  const skill = await git(projectRoot, ["cat-file", "-e", `HEAD:./${skillPath()}`]);
  if (skill.code === 0) return { usable: true };
  const head = await git(projectRoot, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  return {
    usable: false,
    why: head.code === 0 ? "the skill is not committed in this checkout" : "this checkout has no commits yet",
  };
}

const skillPath = (): string => `.agents/skills/${SKILL_NAME}/SKILL.md`;

/** The name of a clone is the last two segments of its URL; odd folder names are therefore hidden behind a link. */
async function checkoutUrl(paths: LocalPaths): Promise<string> {
  const direct = pathToFileURL(projectRoot).href;
  const plain = /\/[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(direct);
  if (plain && !direct.endsWith(".git")) return direct;
  const link = path.join(paths.home, "checkout", "local", "runyard");
  await mkdir(path.dirname(link), { recursive: true });
  await rm(link, { force: true });
  await symlink(projectRoot, link);
  return pathToFileURL(link).href;
}

async function targetUrl(repo: string): Promise<string> {
  if (/^(https:\/\/|ssh:\/\/|file:\/\/\/|[\w.-]+@[\w.-]+:)/.test(repo)) return repo;
  const folder = path.resolve(repo);
  const found = await git(folder, ["rev-parse", "--git-dir"]);
  if (found.code !== 0)
    throw new Problem(`--repo ${repo} is neither a git repository here nor an https, ssh or file URL.`);
  const commits = await git(folder, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (commits.code !== 0) throw new Problem(`--repo ${repo} has no commits yet.`);
  return pathToFileURL(folder).href;
}

/** A small repository with some history, made from the files that come with this one. */
async function exampleRepository(paths: LocalPaths): Promise<string> {
  const folder = path.join(paths.home, "examples", "sample-repository");
  await rm(folder, { recursive: true, force: true });
  await cp(path.join(projectRoot, "examples", "sample-repository"), folder, { recursive: true });
  await cp(path.join(projectRoot, ".agents"), path.join(folder, ".agents"), { recursive: true });
  const identity = ["-c", "user.name=Runyard", "-c", "user.email=runyard@example.com", "-c", "commit.gpgsign=false"];
  const steps = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "README.md"],
    [...identity, "commit", "--quiet", "--no-verify", "-m", "Begin with a README"],
    ["add", "--all"],
    [...identity, "commit", "--quiet", "--no-verify", "-m", "Add the program, its tests and a skill"],
  ];
  for (const args of steps) {
    const result = await git(folder, args);
    if (result.code !== 0)
      throw new Problem("The bundled example repository could not be created.", lastLines(result.output, 6));
  }
  return pathToFileURL(folder).href;
}

/** The clone's folder is the report's title. The skill overlooks hidden folders, and two names belong to the sandbox. */
function folderFor(url: string): string {
  const name = path.posix.basename(url.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, ""));
  return /^\w[\w.-]*$/.test(name) && name !== "output" && name !== "attachments" ? name : "repository";
}

const toSkillSpec = (url: string): string => `${url.split("/").slice(-2).join("/")}:${SKILL_NAME}`;

const git = (cwd: string, args: string[]) =>
  runCommand("git", ["-c", "safe.directory=*", ...args], { cwd, timeoutSeconds: 60 });
