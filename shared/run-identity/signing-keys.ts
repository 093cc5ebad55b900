import { type CryptoKey, exportJWK, generateKeyPair, importJWK } from "jose";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { cachedKeySet } from "#shared/vault/cached-key-set.ts";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import { ALGORITHM } from "./own-issuer.ts";

const DAY_MS = 24 * 60 * 60_000;
/** The age of the newest key at which a new one is made. */
const ROTATE_AFTER_MS = 30 * DAY_MS;
/**
 * A new key is published for this long before it signs, and a former one after it signed last: verifiers cache what is published. It is
 * far longer than a process caches the keys, so that each process knows a key before it signs.
 */
const PUBLISHED_MS = DAY_MS;

const PublicJwk = {
  /** The type of the key. */
  kty: v.literal("EC"),
  /** The curve of the key. */
  crv: v.literal("P-256"),
  /** The x coordinate of the public key. */
  x: v.string(),
  /** The y coordinate of the public key. */
  y: v.string(),
};
const StoredKey = v.object({
  kid: v.string(),
  created_at: v.number(),
  signs_from: v.number(),
  jwk: v.object({ ...PublicJwk, d: v.string() }),
});
type StoredKey = v.InferOutput<typeof StoredKey>;
const StoredKeys = v.pipe(v.string(), v.parseJson(), v.object({ v: v.literal(1), keys: v.array(StoredKey) }));

/** A public key as the key set of the issuer has it. */
export const PublicKey = v.object({
  ...PublicJwk,
  /** The id of the key, as in the header of its tokens. */
  kid: v.string(),
  /** Always `sig`: the key verifies signatures. */
  use: v.literal("sig"),
  /** The algorithm of the key. */
  alg: v.literal(ALGORITHM),
});
export type PublicKey = v.InferOutput<typeof PublicKey>;

/** A private key that signs, with the id under which it is published. */
interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The keys of the issuer. */
export interface SigningKeys {
  /** The keys that verifiers accept; none before the first token. */
  listPublic(): Promise<PublicKey[]>;
  /** The key to sign with now. Makes the first key, and each next one. */
  findSigning(): Promise<SigningKey>;
}

/** The keys rotate every 30 days: each is published a day before it signs and a day after the next one does. */
export function createSigningKeys(store: KeySetStore, now: () => number): SigningKeys {
  const keySet = cachedKeySet(store, (content) => v.parse(StoredKeys, content).keys, now);
  const makeFirst = async (): Promise<readonly StoredKey[]> => {
    const keys = await keySet.create(await makeKey(now(), now()));
    if (keys.length === 0)
      throw new RunyardError("resource_unavailable", { detail: "the signing keys are being created" });
    return keys;
  };
  return {
    listPublic: async () => (await keySet.list()).map(toPublic),
    async findSigning() {
      const found = await keySet.list();
      const keys = found.length === 0 ? await makeFirst() : found;
      const next = await rotate(keys, now());
      // Of two processes that rotate at the same time, the key of the one that is overwritten has signed nothing yet.
      if (next !== undefined) await keySet.replace(next);
      return toSigning(findCurrent(keys, now()));
    },
  };
}

/** The keys after a rotation, or undefined where none is due. Keys that no valid token can need any more are left out. */
async function rotate(keys: readonly StoredKey[], now: number): Promise<StoredKey[] | undefined> {
  const newest = keys.at(-1);
  if (newest === undefined || now - newest.created_at < ROTATE_AFTER_MS) return undefined;
  const published = keys.filter((_, index) => {
    const next = keys[index + 1];
    return next === undefined || now < next.signs_from + PUBLISHED_MS;
  });
  return [...published, await makeKey(now, now + PUBLISHED_MS)];
}

function findCurrent(keys: readonly StoredKey[], now: number): StoredKey {
  const current = keys.findLast(({ signs_from }) => signs_from <= now) ?? keys[0];
  if (current === undefined) throw new Error("the store has no signing key");
  return current;
}

async function makeKey(now: number, signsFrom: number): Promise<StoredKey> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return v.parse(StoredKey, { kid: uuidv7(now), created_at: now, signs_from: signsFrom, jwk });
}

/** Named one by one, so that no private member can be published. */
const toPublic = ({ kid, jwk: { kty, crv, x, y } }: StoredKey): PublicKey => ({
  kty,
  crv,
  x,
  y,
  kid,
  use: "sig",
  alg: ALGORITHM,
});

async function toSigning({ kid, jwk }: StoredKey): Promise<SigningKey> {
  const key = await importJWK(jwk, ALGORITHM);
  if (key instanceof Uint8Array) throw new Error("a signing key is symmetric");
  return { kid, key };
}
