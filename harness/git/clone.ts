import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "#shared/wire/config.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { parseRepositoryIdentity } from "#shared/wire/skills/skill-file.ts";
import { formatError, SetupError } from "../support/stop.ts";
import { cutBytes } from "../support/text-limits.ts";
import { BASE_FILE } from "./diff-script.ts";
import { separateCredential } from "./repository-access.ts";
import { pinRepositoryAddress } from "./repository-address.ts";

/** A repository in the workspace. */
export interface Clone {
  /** The last two segments of its URL; a file URL has them too. */
  readonly owner: string;
  readonly name: string;
  /** Where it is, relative to the workspace. */
  readonly path: string;
  readonly commit: string;
}

export interface CloneOptions {
  /** Host path of the workspace. */
  readonly workspace: string;
  /** Host path of a directory that commands cannot write. */
  readonly etc: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Grants read access to the repository. @default the credential of the URL, if it has one */
  readonly token?: string | undefined;
}

/** Names in the workspace that no repository may have. */
const RESERVED = ["output", "attachments"];

/** Assigns each repository a path in the workspace. @throws SetupError when a path is taken or empty */
export function assignClonePaths(repositories: readonly Repository[]): Map<string, Repository> {
  const places = new Map<string, Repository>();
  for (const repository of repositories) {
    const place = repository.path ?? parseRepositoryIdentity(repository.url).name;
    // A clone inside another could be redirected by a link in the outer one.
    const isTaken = [...RESERVED, ...places.keys()].some((other) => isWithin(place, other) || isWithin(other, place));
    if (isTaken || place === "" || place === ".git")
      throw new SetupError(
        `repository ${maskUrlUsers(repository.url)}: the directory "${place}" is taken: give it another path`,
      );
    places.set(place, repository);
  }
  return places;
}

/**
 * Clones one repository with its whole history. Git runs outside the sandbox, so it must use no configuration of the host, no
 * hook, no submodule and no other transport. The clone's remote has no credential, because commands can read its configuration.
 * @throws SetupError with the end of git's output
 */
export async function cloneRepository(place: string, repository: Repository, options: CloneOptions): Promise<Clone> {
  const directory = join(options.workspace, place);
  const { url, variables } = separateCredential(repository.url, options.token);
  const fail = (text: string) =>
    new SetupError(
      `cloning ${maskUrlUsers(repository.url)} failed: ${maskUrlUsers(text)}${suggestFix(text, options.token)}`,
    );
  const pinned = await pinRepositoryAddress(repository.url).catch((error: unknown) => {
    throw fail(formatError(error));
  });
  const git = (...args: string[]) => runGit([...pinned, ...args], options, variables);
  const cloned = await git(
    "clone",
    "--quiet",
    "--template=",
    "--no-hardlinks",
    "--no-recurse-submodules",
    "--",
    url,
    directory,
  );
  if (!cloned.ok) throw fail(cloned.text);
  if (repository.ref !== undefined) {
    const inClone = (...args: string[]) => git("-C", directory, ...args);
    const direct = await inClone("checkout", "--quiet", repository.ref, "--");
    if (!direct.ok) {
      // The ref is no branch, tag or commit of the clone, but may be one that clones do not include, such as a pull request.
      const fetched = await inClone("fetch", "--quiet", "origin", repository.ref);
      const detached = fetched.ok ? await inClone("checkout", "--quiet", "--detach", "FETCH_HEAD") : fetched;
      if (!detached.ok) throw fail(`there is no ref "${repository.ref}": ${detached.text}`);
    }
  }
  const head = await git("-C", directory, "rev-parse", "--verify", "--quiet", "HEAD");
  const commit = head.ok ? head.text.trim() : "";
  await writeFile(join(directory, ".git", BASE_FILE), `${commit}\n`);
  return { ...parseRepositoryIdentity(repository.url), path: place, commit };
}

/** Writes the configuration that git uses instead of those of the user and the system. */
export async function writeGitConfig(etc: string): Promise<void> {
  const lines = [
    "[safe]\n\tdirectory = *",
    "[core]\n\thooksPath = /dev/null\n\tfsmonitor = false",
    "[protocol]\n\tallow = never",
    ...["https", "ssh", "file"].map((name) => `[protocol "${name}"]\n\tallow = always`),
    "[advice]\n\tdetachedHead = false",
    "[gc]\n\tauto = 0",
  ];
  await writeFile(join(etc, "gitconfig"), `${lines.join("\n")}\n`);
}

const isWithin = (inner: string, outer: string) => `${inner}/`.startsWith(`${outer}/`);

/** Suggests a fix when access was denied. */
function suggestFix(text: string, token: string | undefined): string {
  if (
    !/could not read (Username|Password)|Authentication failed|returned error: 40[134]|epository not found/i.test(text)
  )
    return "";
  return token === undefined
    ? " (it may be private: install this deployment's GitHub App for it, or name a secret of the run in token_secret)"
    : " (it does not exist, or its token cannot read it)";
}

/** The end of git's output that is read for an error, and the part of it that the error shows. */
const OUTPUT_CHARACTERS = 4_096;
const MESSAGE_LINES = 5;
const MESSAGE_BYTES = 600;

async function runGit(
  args: readonly string[],
  options: CloneOptions,
  variables: Readonly<Record<string, string>>,
): Promise<{ ok: boolean; text: string }> {
  const { promise, resolve } = Promise.withResolvers<{ ok: boolean; text: string }>();
  const child = spawn("git", [...args], {
    cwd: options.workspace,
    env: { ...buildGitEnvironment(options.etc), ...variables },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let late = false;
  const kill = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, options.timeoutMs);
  options.signal.addEventListener("abort", kill);
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-OUTPUT_CHARACTERS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", (error) => resolve({ ok: false, text: `git could not be started: ${error.message}` }));
  child.on("close", (code) => {
    const limit = `git did not end within ${Math.round(options.timeoutMs / 1000)} s`;
    resolve({ ok: code === 0, text: late ? limit : takeLastLines(text) });
  });
  const result = await promise;
  clearTimeout(timer);
  options.signal.removeEventListener("abort", kill);
  options.signal.throwIfAborted();
  return result;
}

/** Proxy and certificate settings describe the host's network and are not secret. Git needs them behind a proxy. */
const NETWORK_SETTINGS = [
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** Builds the complete environment of git processes. */
export function buildGitEnvironment(etc: string): Record<string, string> {
  const settings = NETWORK_SETTINGS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(settings),
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: etc,
    LANG: "C.UTF-8",
    GIT_CONFIG_GLOBAL: join(etc, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oConnectTimeout=20",
    GIT_LFS_SKIP_SMUDGE: "1",
  };
}

/** Takes the end of git's output, for a message. */
export const takeLastLines = (text: string): string =>
  cutBytes(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .slice(-MESSAGE_LINES)
      .join(" "),
    MESSAGE_BYTES,
  );
