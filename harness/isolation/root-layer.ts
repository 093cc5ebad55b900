import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { holdNamespaces } from "./namespaces.ts";
import type { Network } from "./network.ts";
import { findProgram } from "./programs.ts";
import type { RootLayer, WorkspacePaths } from "./sandbox.ts";

interface RootLayerOptions {
  /** The host path of the image's files, which nobody changes. */
  readonly image: string;
  /** The host paths of the run. */
  readonly host: WorkspacePaths;
  /** A new directory of the execution, which no command sees. */
  readonly folder: string;
  /** The network namespace that commands share. @default each command has its own */
  readonly network: Network | undefined;
}

/**
 * Where commands see other things than files of the image. They can exchange none of these: each is a mount in the namespace of every
 * command, and the kernel renames and removes no name at which something is mounted. Where bubblewrap mounts at one of them, no link can
 * direct it elsewhere.
 */
const MOUNTED = ["dev", "proc", "home", "run"];

/** All mounts are relative, so that commands do not see paths of the host among their mounts. */
const SCRIPT = `cd "$1" && umask 022
fail() { echo "$*" >&2; exit 1; }
check() { [ -d "$1" ] && [ ! -L "$1" ] || fail "the image has no directory /\${1#root/}"; }
put() { check "root/$2" && mount --bind "$1" "root/$2" || exit 1; }
mount --bind "$2" lower || exit 1
prepare() {
  mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr root || exit 1
  chmod 700 work/work
  for name in ${MOUNTED.join(" ")}; do put "root/$name" "$name"; done
  put "$3" workspace; put "$4" home/agent; put "$5" tmp; put "$6" run/runyard
  mount -o remount,bind,ro root/run/runyard && echo made
}
prepare "$@"
while read -r again; do umount --recursive --lazy "$PWD/root" && prepare "$@"; done
`;

/**
 * Opens the layer in a mount namespace of its own, which ends with the harness. All commands share one mount, because the kernel allows
 * no two with the same changes.
 * @throws an Error with the reason where the kernel or the file system cannot do it
 */
export async function openRootLayer({ image, host, folder, network }: RootLayerOptions): Promise<RootLayer> {
  const unshare = findProgram("unshare");
  if (unshare === undefined) throw new Error("unshare is not installed");
  for (const path of [folder, ...["lower", "upper", "work", "root"].map((name) => join(folder, name))]) mkdirSync(path);
  const paths = [folder, image, host.workspace, host.home, host.tmp, host.steps];
  const shell = ["/bin/sh", "-c", SCRIPT, "sh", ...paths] as const;
  const namespaces =
    network === undefined
      ? await holdNamespaces([unshare, "--user", "--map-root-user", "--mount", ...shell], ["user", "mnt"])
      : await holdNamespaces([...network.enter, unshare, "--mount", ...shell], ["user", "net", "mnt"]);
  return {
    enter: namespaces.enter,
    root: join(folder, "root"),
    changes: join(folder, "upper"),
    remount: namespaces.repeat,
    close: namespaces.close,
  };
}
