import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bindPrograms } from "../isolation/bubblewrap.ts";
import { findProgram } from "../isolation/programs.ts";
import { createHash } from "../support/lazy-crypto.ts";
import type { RepositoryAccess } from "./repository-access.ts";
import { type Git, type GitOptions, runGit } from "./run-git.ts";

/** Copies of repositories on this machine, from which further clones are made. */
export interface Mirrors {
  readonly directory: string;
  /** A text that is the same for all runs of an owner, and for no others. */
  readonly scope: string;
  /** Identifies the credential of the repository: the credential itself, or its source if each execution gets another one. */
  readonly credential: string;
}

/** The variable that names the directory of mirrors on this machine. Without it, there are none. */
export const MIRRORS_VARIABLE = "RUNYARD_MIRRORS";
/** The file next to a mirror whose time is that of its last use. */
const USED = ".used";
/** The time within which another execution must have updated the mirror. */
const LOCK_SECONDS = 240;

/**
 * Brings the mirror of a repository up to date with the credential of this clone, which proves that it may read the repository. Git runs in
 * a sandbox that contains nothing but the mirror, and with no other credential: the commands and secrets of runs are not in it.
 * @param pinned arguments of git that come before its subcommand
 * @returns the directory of the mirror; undefined if the repository has to be cloned from its server
 */
export async function updateMirror(
  { url, credential, variables }: RepositoryAccess,
  pinned: readonly string[],
  options: GitOptions & { readonly mirrors?: Mirrors | undefined },
): Promise<string | undefined> {
  const { mirrors, etc } = options;
  const [bwrap, flock] = [findProgram("bwrap"), findProgram("flock")];
  if (mirrors === undefined || !url.startsWith("https://") || bwrap === undefined || flock === undefined)
    return undefined;
  const key = [mirrors.scope, mirrors.credential, credential?.user ?? "", url];
  const name = createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 40);
  const mirror = join(mirrors.directory, `${name}.git`);
  await mkdir(mirror, { recursive: true, mode: 0o700 });
  await writeFile(join(mirrors.directory, `${name}${USED}`), "");
  const confine = ["--exclusive", "--wait", String(LOCK_SECONDS), join(mirrors.directory, `${name}.lock`)];
  const inMirror: Git = (...args) =>
    runGit(
      [...pinned, ...args],
      { ...options, workspace: mirror, confine: [flock, ...confine, bwrap, ...enclose(mirror, etc)] },
      variables,
    );
  const created = await inMirror("init", "--quiet", "--bare", "--template=", ".");
  const head = created.ok ? await inMirror("ls-remote", "--quiet", "--symref", "--", url, "HEAD") : created;
  const [, branch] = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(head.output) ?? [];
  if (!head.ok || branch === undefined) return undefined;
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const fetched = await inMirror(
    "fetch",
    "--quiet",
    "--prune",
    "--no-tags",
    "--no-write-fetch-head",
    "--",
    url,
    ...refs,
  );
  const pointed = fetched.ok ? await inMirror("symbolic-ref", "HEAD", branch) : fetched;
  return pointed.ok ? mirror : undefined;
}

/** What git needs of /etc for https. */
const ETC = ["ssl", "pki", "ca-certificates", "resolv.conf", "hosts", "nsswitch.conf", "gai.conf"];

/** The arguments with which bubblewrap starts git with the mirror as the only directory that it can write. */
export function enclose(mirror: string, etc: string): string[] {
  const certificates = ["GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR"].flatMap((name) => process.env[name] ?? []);
  const shared = [...ETC.map((name) => `/etc/${name}`), ...certificates];
  return [
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...bindPrograms(),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...shared.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--ro-bind", etc, etc, "--bind", mirror, mirror, "--remount-ro", "/", "--chdir", mirror, "--"],
  ];
}
