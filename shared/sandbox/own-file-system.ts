import { constants } from "node:fs";
import { access, readdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DEFAULT_RUN_DISK_MIB, DEFAULT_RUN_FILES } from "#shared/wire/host-settings.ts";

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** The image in the directory of an execution. Once it is mounted there, it is invisible to the harness and its commands. */
const IMAGE = "disk.img";
const MIB = 1024 * 1024;
/** What mke2fs needs for each inode, and in each group of blocks, in which it rounds the number of inodes up to a full block. */
const INODE_BYTES = 256;
const GROUP_BYTES = 128 * MIB;
const INODES_IN_BLOCK = 16;
const INODES_BYTES = INODE_BYTES * INODES_IN_BLOCK;
/** The unit of `stat`. */
const BLOCK_BYTES = 512;

/**
 * Runs the command in a mount namespace of its own. The other arguments are the script that runs in it, and its arguments, of which the
 * command begins at the fourth.
 */
const ENTER = [
  "inside=$1; shift",
  "own='unshare --mount --propagation private'",
  'if $own true 2>/dev/null; then exec $own sh -c "$inside" sh "$@"; fi',
  'shift 3; exec "$@"',
].join("\n");
/** Without these, the kernel would write all inodes, and the image would never shrink. */
const MOUNT_OPTIONS = "loop,noinit_itable,discard,nodev,nosuid,noatime";
const MKFS_OPTIONS = `-q -F -b 4096 -m 0 -I ${INODE_BYTES} -O ^has_journal,^resize_inode -E lazy_itable_init=1,nodiscard,root_owner=0:0`;
/** Whatever fails, the command runs: the harness then measures the files, as on hosts that do not allow this. */
const MOUNT = [
  "folder=$1 bytes=$2 files=$3; shift 3",
  "prepare() (",
  '  PATH="$PATH:/usr/sbin:/sbin"; umask 077',
  `  truncate -s "$bytes" "$folder/${IMAGE}" && mkfs.ext4 ${MKFS_OPTIONS} -N "$files" "$folder/${IMAGE}" &&`,
  `    mount -o ${MOUNT_OPTIONS} "$folder/${IMAGE}" "$folder" && chmod 700 "$folder" && rmdir "$folder/lost+found"`,
  ")",
  `if prepare </dev/null >/dev/null 2>&1; then cd "$folder"; else rm -f "$folder/${IMAGE}"; fi`,
  'exec "$@"',
].join("\n");

/**
 * Gives a command a file system of its own in `folder`, as large as a run's limits of disk space and files, so that the kernel enforces them.
 * It is an image in that directory, and mounted in a mount namespace of the command and its descendants only: when the last of them has
 * ended, however that happens, the kernel unmounts it, and only the image is left, to be removed with the directory. Root may do so, on a
 * disk with room for this image and for what the other executions may still write.
 * @returns the command as it is where that is not possible
 */
export async function inOwnFileSystem(
  folder: string,
  command: Command,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<Command> {
  const size = chooseSize(settings);
  if (size === undefined || process.platform !== "linux" || process.getuid?.() !== 0) return command;
  if (!(await hasLoopDevices()) || (await measureRoom(dirname(folder))) < size.bytes) return command;
  return ["/bin/sh", "-c", ENTER, "sh", MOUNT, folder, String(size.bytes), String(size.inodes), ...command];
}

/** Undefined where nothing is limited, or the harness will refuse a setting. */
function chooseSize(settings: Readonly<Record<string, string | undefined>>) {
  const isOff = settings["RUNYARD_RUN_FILE_SYSTEM"] === "shared";
  if (isOff || settings["RUNYARD_SANDBOX"]?.startsWith("bubblewrap") !== true) return undefined;
  const diskBytes = Number(settings["RUNYARD_RUN_DISK_MIB"] || DEFAULT_RUN_DISK_MIB) * MIB;
  const files = Number(settings["RUNYARD_RUN_FILES"] || DEFAULT_RUN_FILES);
  if (!Number.isInteger(diskBytes) || !Number.isInteger(files)) return undefined;
  const most = diskBytes + files * INODE_BYTES;
  // Rounded up in each group, they are no more than the limit. What else the file system needs is taken from the space of the files.
  const inodes = files - Math.ceil(most / GROUP_BYTES) * INODES_IN_BLOCK;
  const bytes = Math.floor((diskBytes + inodes * INODE_BYTES) / INODES_BYTES) * INODES_BYTES;
  return inodes < INODES_IN_BLOCK ? undefined : { bytes, inodes };
}

const hasLoopDevices = (): Promise<boolean> =>
  access("/dev/loop-control", constants.W_OK).then(
    () => true,
    () => false,
  );

/** The free bytes of a disk, without those that the images on it may still take. */
async function measureRoom(parent: string): Promise<number> {
  const { bavail, bsize } = await statfs(parent);
  const names = await readdir(parent);
  const images = await Promise.all(names.map((name) => stat(join(parent, name, IMAGE)).catch(() => undefined)));
  const reserved = images.reduce(
    (sum, image) => sum + (image === undefined ? 0 : image.size - image.blocks * BLOCK_BYTES),
    0,
  );
  return bavail * bsize - reserved;
}
