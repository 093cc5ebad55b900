import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as v from "valibot";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { Skill } from "./skill.ts";

/** Seconds after which the skills of a repository are discovered again. */
export const FRESH_SECONDS = 600;
/** Seconds after which a repository that could not be read is read again. */
export const RETRY_SECONDS = 60;
/** Days after which skills that no request has read are deleted; their files are kept a little longer. */
const KEPT_DAYS = 25;
/** Compressed bytes that are stored in the item; more are stored as a file. */
const ITEM_BYTES = 100 * 1024;

/** Why a repository could not be read, and when it is read again. */
const Failure = v.object({
  code: v.picklist(["resource_not_found", "external_authentication_required", "resource_unavailable"]),
  message: v.string(),
  retry_at: v.number(),
  /** True if the host limits requests, so that reading it earlier would extend the limit. */
  limited: v.boolean(),
});
export type Failure = v.InferOutput<typeof Failure>;

const Stored = v.object({
  /** When the repository was last read and had these skills. */
  checked_at: v.exactOptional(v.number()),
  /** The host's ETag of this state of the repository. */
  etag: v.exactOptional(v.string()),
  packed: v.exactOptional(v.instance(Uint8Array)),
  file: v.exactOptional(v.string()),
  left_out: v.optional(v.number(), 0),
  failure: v.exactOptional(Failure),
  expires_at: v.number(),
});
type Stored = v.InferOutput<typeof Stored>;

/** What is stored of a repository: its skills where it was ever read, and the last failure since then. */
export interface FoundSkills {
  readonly found?: {
    readonly skills: readonly Skill[];
    readonly checkedAt: number;
    readonly etag?: string;
    /** Number of skills beyond the maximum. */
    readonly leftOut: number;
  };
  readonly failure?: Failure;
}

interface StorePorts {
  readonly table: Table;
  readonly files: Pick<FileStore, "get" | "put">;
  readonly now: () => number;
}

/** Reads what is stored of repositories, in their order; undefined for one that was never discovered. */
export async function readFound(
  repositories: readonly string[],
  ports: StorePorts,
): Promise<readonly (FoundSkills | undefined)[]> {
  const items = await ports.table.batchGet(repositories.map(keys.skills));
  return Promise.all(items.map((item) => unpack(item, ports)));
}

/** Stores the skills of a repository, or why it could not be read. */
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
      ...(found === undefined ? {} : await pack(repository, found, ports)),
      ...(failure === undefined ? {} : { failure }),
      expires_at: expires,
    },
  });
}

/** Records that a repository has not changed, or why it could not be read; the stored skills stay. */
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

async function pack(repository: string, found: Found, { files }: StorePorts) {
  const bytes = deflateRawSync(JSON.stringify(found.skills));
  const about = {
    checked_at: found.checkedAt,
    left_out: found.leftOut,
    ...(found.etag === undefined ? {} : { etag: found.etag }),
  };
  if (bytes.length <= ITEM_BYTES) return { ...about, packed: new Uint8Array(bytes) };
  // The time is part of its name, since the age of a file counts from when it was written.
  const file = fileKeys.skills(repository, sha256(`${found.checkedAt} ${bytes.toString("base64")}`).slice(0, 32));
  await files.put(file, bytes, "application/octet-stream");
  return { ...about, file };
}

async function unpack(item: Item | undefined, ports: StorePorts): Promise<FoundSkills | undefined> {
  const parsed = v.safeParse(Stored, item);
  if (!parsed.success || parsed.output.expires_at * 1000 <= ports.now()) return undefined;
  const { checked_at, etag, left_out, failure } = parsed.output;
  const skills = await readSkills(parsed.output, ports);
  return {
    ...(skills === undefined || checked_at === undefined
      ? {}
      : { found: { skills, checkedAt: checked_at, leftOut: left_out, ...(etag === undefined ? {} : { etag }) } }),
    ...(failure === undefined ? {} : { failure }),
  };
}

async function readSkills({ packed, file }: Stored, { files }: StorePorts): Promise<Skill[] | undefined> {
  const bytes = packed ?? (file === undefined ? undefined : await files.get(file));
  if (bytes === undefined) return undefined;
  return v.parse(v.array(Skill), JSON.parse(inflateRawSync(bytes).toString()));
}
