import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as v from "valibot";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { Skill } from "./skill.ts";

/** Seconds after which skills are looked for anew. */
export const FRESH_SECONDS = 600;
/** Seconds after which a repository that could not be read is tried again. */
export const RETRY_SECONDS = 60;
/** Days after which skills that nobody asked for are forgotten; the bucket keeps its part a little longer. */
const KEPT_DAYS = 25;
/** Compressed bytes that an item takes; more go to the bucket. */
const ITEM_BYTES = 100 * 1024;

/** Why a repository could not be read, and from when on it may be worth another try. */
const Failure = v.object({
  code: v.picklist(["resource_not_found", "external_authentication_required", "resource_unavailable"]),
  message: v.string(),
  retry_at: v.number(),
  /** True where a try before then would make matters worse: the host counts them. */
  limited: v.boolean(),
});
export type Failure = v.InferOutput<typeof Failure>;

const Stored = v.object({
  /** When the repository was last found to be so. */
  checked_at: v.exactOptional(v.number()),
  /** What the host called this state of the repository. */
  etag: v.exactOptional(v.string()),
  packed: v.exactOptional(v.instance(Uint8Array)),
  file: v.exactOptional(v.string()),
  left_out: v.optional(v.number(), 0),
  failure: v.exactOptional(Failure),
  expires_at: v.number(),
});
type Stored = v.InferOutput<typeof Stored>;

/** What is known of a repository: its skills where it was ever read, and the last failure since. */
export interface FoundSkills {
  readonly found?: {
    readonly skills: readonly Skill[];
    readonly checkedAt: number;
    readonly etag?: string;
    /** Skills beyond the most that are looked for. */
    readonly leftOut: number;
  };
  readonly failure?: Failure;
}

interface StorePorts {
  readonly table: Table;
  readonly files: Pick<FileStore, "get" | "put">;
  readonly now: () => number;
}

/** What is known of each of these repositories, in their order; nothing of one that was never asked for. */
export async function readFound(
  repositories: readonly string[],
  ports: StorePorts,
): Promise<readonly (FoundSkills | undefined)[]> {
  const items = await ports.table.batchGet(repositories.map(keys.skills));
  return Promise.all(items.map((item) => unpacked(item, ports)));
}

/** Keeps what is known of a repository. */
export async function writeFound(
  repository: string,
  { found, failure }: FoundSkills,
  ports: StorePorts,
): Promise<void> {
  const expires = Math.ceil(ports.now() / 1000) + KEPT_DAYS * 86_400;
  await ports.table.write({
    kind: "put",
    item: {
      ...keys.skills(repository),
      v: 1,
      ...(found === undefined ? {} : await packed(repository, found, ports)),
      ...(failure === undefined ? {} : { failure }),
      expires_at: expires,
    },
  });
}

/** Notes that a repository is as it was, or why it could not be read; what was found stays. */
export async function noteCheck(
  repository: string,
  { checkedAt, failure }: { readonly checkedAt?: number; readonly failure?: Failure },
  ports: StorePorts,
): Promise<void> {
  await ports.table.write({
    kind: "update",
    key: keys.skills(repository),
    set: {
      ...(checkedAt === undefined ? {} : { checked_at: checkedAt }),
      ...(failure === undefined ? {} : { failure }),
    },
    ...(failure === undefined ? { remove: ["failure"] } : {}),
  });
}

type Found = NonNullable<FoundSkills["found"]>;

async function packed(repository: string, found: Found, { files }: StorePorts) {
  const bytes = deflateRawSync(JSON.stringify(found.skills));
  const about = {
    checked_at: found.checkedAt,
    left_out: found.leftOut,
    ...(found.etag === undefined ? {} : { etag: found.etag }),
  };
  if (bytes.length <= ITEM_BYTES) return { ...about, packed: new Uint8Array(bytes) };
  // The time is a part of its name: the bucket counts a file's age from when it was written.
  const file = fileKeys.skills(repository, sha256(`${found.checkedAt} ${bytes.toString("base64")}`).slice(0, 32));
  await files.put(file, bytes, "application/octet-stream");
  return { ...about, file };
}

async function unpacked(item: Item | undefined, ports: StorePorts): Promise<FoundSkills | undefined> {
  const parsed = v.safeParse(Stored, item);
  if (!parsed.success || parsed.output.expires_at * 1000 <= ports.now()) return undefined;
  const { checked_at, etag, left_out, failure } = parsed.output;
  const skills = await skillsIn(parsed.output, ports);
  return {
    ...(skills === undefined || checked_at === undefined
      ? {}
      : { found: { skills, checkedAt: checked_at, leftOut: left_out, ...(etag === undefined ? {} : { etag }) } }),
    ...(failure === undefined ? {} : { failure }),
  };
}

async function skillsIn({ packed, file }: Stored, { files }: StorePorts): Promise<Skill[] | undefined> {
  const bytes = packed ?? (file === undefined ? undefined : await files.get(file));
  if (bytes === undefined) return undefined;
  return v.parse(v.array(Skill), JSON.parse(inflateRawSync(bytes).toString()));
}
