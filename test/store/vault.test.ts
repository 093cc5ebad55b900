import { describe, expect, it } from "vitest";
import { keys as tableKeys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";
import { formatKeySet } from "#shared/vault/cached-key-set.ts";
import { memoryKeySetStore } from "#shared/vault/memory-key-set-store.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import { isSecretValue, tableVault } from "#shared/vault/secret-value-store.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import { createVaultKeys, fixedVaultKeys, makeStoredKey, parseKeySet } from "#shared/vault/vault-keys.ts";

const VALUE = "a-very-secret-value";

/** A vault whose calls are recorded. */
function makeVault(former = memorySecretVault()) {
  const calls: string[] = [];
  const bare = memoryTable();
  const keySet = memoryKeySetStore();
  const clock = { now: 1_000 };
  const table = {
    batchGet: (keys: Parameters<typeof bare.batchGet>[0]) => {
      calls.push(`BatchGetItem ${keys.length}`);
      return bare.batchGet(keys);
    },
    write: (write: Parameters<typeof bare.write>[0]) => {
      calls.push(write.kind);
      return bare.write(write);
    },
  };
  const store = {
    ...keySet,
    read: () => {
      calls.push("read the key set");
      return keySet.read();
    },
  };
  const open = () =>
    tableVault(
      table,
      createVaultKeys(store, () => clock.now),
      former,
    );
  return { bare, keySet, calls, clock, former, open, vault: open() };
}

const itemOf = (items: readonly Item[], id: string) => items.find(({ sk }) => sk === tableKeys.secretValue("", id).sk);

describe("the vault", () => {
  it.each([
    ["a long text", "ä".repeat(2_048)],
    ["lines", 'one\n"two"\n'],
    ["what looks like a reference", "{{ssm:other}}"],
    ["what looks encoded", "base64:aGVsbG8="],
    ["a NUL", "a\u0000b"],
  ])("returns values unchanged: %s", async (_, value) => {
    const { vault } = makeVault();
    await vault.put("team", "id", value);
    expect(await vault.getAll("team", ["id", "missing"])).toEqual(new Map([["id", value]]));
  });

  it("refuses values of more than 4,096 bytes", async () => {
    const { vault, bare } = makeVault();
    await expect(vault.put("team", "id", "ä".repeat(2_049))).rejects.toMatchObject({ code: "invalid_request" });
    expect(bare.all()).toEqual([]);
  });

  it("stores nothing but the id, the id of the key and the encrypted value", async () => {
    const { vault, bare, keySet } = makeVault();
    await vault.put("team", "id", VALUE);
    const [key] = parseKeySet((await keySet.read()) ?? "");
    expect(bare.all()).toEqual([
      { ...tableKeys.secretValue("team", "id"), v: 1, key: key?.id, sealed: expect.any(Uint8Array) },
    ]);
    expect(bare.all().every(isSecretValue)).toBe(true);
    expect(Buffer.from(Object(bare.all()[0])["sealed"]).includes(VALUE)).toBe(false);
  });

  it.each([
    ["another secret of the team", "team", "other"],
    ["a secret of another team", "stranger", "id"],
  ])("does not decrypt a value that was copied to %s", async (_, team, id) => {
    const { vault, bare } = makeVault();
    await vault.put("team", "id", VALUE);
    const item = itemOf(bare.all(), "id");
    await bare.write({ kind: "put", item: { ...item, ...tableKeys.secretValue(team, id) } });
    await expect(vault.getAll(team, [id])).rejects.toThrow();
    expect(await vault.getAll("team", ["id"])).toEqual(new Map([["id", VALUE]]));
  });

  it("encrypts the same value differently each time", async () => {
    const { vault, bare } = makeVault();
    await vault.put("team", "a", VALUE);
    await vault.put("team", "b", VALUE);
    const sealed = bare.all().map((item) => Buffer.from(Object(item)["sealed"]).toString("base64"));
    expect(new Set(sealed).size).toBe(2);
  });

  it("reads all values of a run with one read of the table, and the keys once in five minutes", async () => {
    const { open, calls, clock } = makeVault();
    const ids = Array.from({ length: 50 }, (_, index) => `id-${index}`);
    for (const id of ids) await open().put("team", id, `value of ${id}`);
    const vault = open();
    calls.length = 0;
    expect((await vault.getAll("team", ids)).size).toBe(50);
    await vault.getAll("team", ids);
    expect(calls).toEqual(["BatchGetItem 50", "read the key set", "BatchGetItem 50"]);
    clock.now += 5 * 60_000;
    await vault.getAll("team", ids);
    expect(calls.filter((call) => call === "read the key set")).toHaveLength(2);
    expect((await vault.getAll("team", [...ids, ...ids.map((id) => `${id}x`), "y"])).size).toBe(50);
    // What is in neither place is looked for again, since it may have been moved.
    expect(calls.slice(-3)).toEqual(["BatchGetItem 100", "BatchGetItem 1", "BatchGetItem 51"]);
  });

  it("creates one key, also if several processes store their first values at once", async () => {
    const { open, keySet, bare } = makeVault();
    const ids = ["a", "b", "c", "d"];
    await Promise.all(ids.map((id) => open().put("team", id, id)));
    expect(parseKeySet((await keySet.read()) ?? "")).toHaveLength(1);
    expect(bare.all()).toHaveLength(4);
    expect(await open().getAll("team", ids)).toEqual(new Map(ids.map((id) => [id, id])));
  });

  it("uses the key that another process has created while this one reads", async () => {
    const created = makeStoredKey(1_000);
    const contents = [Promise.resolve(undefined), new Promise<undefined>(() => {}), formatKeySet([created])];
    const keys = createVaultKeys(
      {
        read: async () => contents.shift(),
        async create() {
          // This read does not end.
          void keys.find("other");
          return false;
        },
        replace: async () => undefined,
      },
      () => 1_000,
    );
    expect((await keys.current()).id).toBe(created.id);
  });

  it("encrypts with the newest key, and decrypts what former keys have encrypted, without a restart", async () => {
    const { vault, keySet, bare, clock } = makeVault();
    await vault.put("team", "old", "one");
    const [first, next] = [...parseKeySet((await keySet.read()) ?? ""), makeStoredKey(clock.now)];
    if (first === undefined || next === undefined) throw new Error("there is no key");
    await keySet.replace(formatKeySet([first, next]));
    const later = tableVault(
      bare,
      createVaultKeys(keySet, () => clock.now),
    );
    await later.put("team", "new", "two");
    expect(itemOf(bare.all(), "new")?.["key"]).toBe(next.id);
    // This process has cached the key set before the key was added.
    expect(await vault.getAll("team", ["old", "new"])).toEqual(
      new Map([
        ["old", "one"],
        ["new", "two"],
      ]),
    );
  });

  it("names the key that is missing, and what to do", async () => {
    const { vault, bare } = makeVault();
    await vault.put("team", "id", VALUE);
    const others = [createVaultKeys(memoryKeySetStore(), Date.now), fixedVaultKeys({ id: "x", key: Buffer.alloc(32) })];
    for (const keys of others) {
      await expect(tableVault(bare, keys).getAll("team", ["id"])).rejects.toMatchObject({
        code: "resource_unavailable",
        retryable: false,
        message: expect.stringMatching(/does not have the key [0-9a-f]{12}: the operator has to restore/),
      });
    }
  });

  it("finds values where an earlier release stored them, and deletes those too", async () => {
    const { vault, former, calls } = makeVault();
    await former.put("team", "old", "one");
    await vault.put("team", "new", "two");
    expect(await vault.getAll("team", ["new", "old"])).toEqual(
      new Map([
        ["new", "two"],
        ["old", "one"],
      ]),
    );
    await vault.remove("team", "old");
    await vault.remove("team", "new");
    expect(await vault.getAll("team", ["new", "old"])).toEqual(new Map());
    expect(former.values.size).toBe(0);
    expect(calls.filter((call) => call === "delete")).toHaveLength(2);
  });

  it("returns a value that is moved into the table while it is read", async () => {
    const former = memorySecretVault();
    await former.put("team", "id", VALUE);
    const { vault } = makeVault({
      ...former,
      async getAll(team, ids) {
        await move(former, vault);
        return former.getAll(team, ids);
      },
    });
    expect(await vault.getAll("team", ["id"])).toEqual(new Map([["id", VALUE]]));
  });

  it("leaves nothing of a value that is moved into the table while it is deleted", async () => {
    const former = memorySecretVault();
    await former.put("team", "id", VALUE);
    const { vault, bare } = makeVault({
      ...former,
      async remove(team, id) {
        await move(former, vault);
        await former.remove(team, id);
      },
    });
    await vault.remove("team", "id");
    expect(bare.all()).toEqual([]);
  });
});

/** Moves the value of a secret from its former place, as an operator does. */
async function move(from: ReturnType<typeof memorySecretVault>, to: Pick<SecretVault, "put">): Promise<void> {
  const value = (await from.getAll("team", ["id"])).get("id");
  if (value === undefined) return;
  await to.put("team", "id", value);
  await from.remove("team", "id");
}
