import { ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it } from "vitest";
import { keys as tableKeys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";
import { memoryKeySetStore } from "#shared/vault/memory-key-set-store.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys, parseKeySet } from "#shared/vault/vault-keys.ts";
import { moveValues } from "../../operate/vault/move-values.ts";
import { rotateKeys } from "../../operate/vault/rotate-keys.ts";
import { throwIfOwnKey } from "../../operate/vault.ts";
import { respondToCalls } from "../support/aws-responses.ts";

const DAY_MS = 24 * 3_600_000;

/** A deployment with secrets of teams and of webhooks, and a process that uses them. */
async function makeDeployment() {
  const table = memoryTable();
  const clock = { now: 1_000 };
  const keySets = [memoryKeySetStore(), memoryKeySetStore()] as const;
  const open = (keySet: (typeof keySets)[number]) =>
    tableVault(
      table,
      createVaultKeys(keySet, () => clock.now),
    );
  const [secrets, webhooks] = [open(keySets[0]), open(keySets[1])];
  await secrets.put("team", "a", "value of a");
  await secrets.put("other", "b", "value of b");
  await webhooks.put("team", "w", "value of w");
  const keyOf = (id: string) => table.all().find(({ sk }) => sk === tableKeys.secretValue("", id).sk)?.["key"];
  const readKeySet = async (index: 0 | 1) => parseKeySet((await keySets[index].read()) ?? "");
  /** Rotates, and does `meanwhile` while it waits. */
  const rotate = (meanwhile: () => Promise<void> = async () => undefined) =>
    rotateKeys({
      keySets,
      table,
      async *scan(): AsyncGenerator<Item> {
        yield* table.all();
      },
      now: () => clock.now,
      async sleep(milliseconds) {
        await meanwhile();
        clock.now += milliseconds;
      },
    });
  return { table, clock, secrets, webhooks, open, keySets, keyOf, readKeySet, rotate };
}

describe("a rotation of the keys of secrets", () => {
  it("encrypts all values with new keys, which processes use without a restart", async () => {
    const { secrets, webhooks, keyOf, readKeySet, rotate } = await makeDeployment();
    const former = [keyOf("a"), keyOf("w")];
    expect(await rotate()).toEqual({ keys: 2, values: 3 });
    const [ofSecrets, ofWebhooks] = [(await readKeySet(0)).at(-1)?.id, (await readKeySet(1)).at(-1)?.id];
    expect([keyOf("a"), keyOf("b"), keyOf("w")]).toEqual([ofSecrets, ofSecrets, ofWebhooks]);
    expect(new Set([...former, ofSecrets, ofWebhooks]).size).toBe(4);
    expect(await secrets.getAll("team", ["a"])).toEqual(new Map([["a", "value of a"]]));
    expect(await secrets.getAll("other", ["b"])).toEqual(new Map([["b", "value of b"]]));
    expect(await webhooks.getAll("team", ["w"])).toEqual(new Map([["w", "value of w"]]));
  });

  it("includes values that a process encrypts with a former key meanwhile", async () => {
    const { secrets, keyOf, readKeySet, rotate } = await makeDeployment();
    const former = keyOf("a");
    const rotation = await rotate(async () => {
      await secrets.put("team", "late", "value");
      expect(keyOf("late")).toBe(former);
    });
    expect(rotation.values).toBe(4);
    await secrets.put("team", "later", "value");
    const newest = (await readKeySet(0)).at(-1)?.id;
    expect([keyOf("late"), keyOf("later")]).toEqual([newest, newest]);
    expect((await secrets.getAll("team", ["late", "later"])).size).toBe(2);
  });

  it("does not restore a secret that is deleted meanwhile", async () => {
    const { table, clock, secrets, keySets } = await makeDeployment();
    const items = table.all();
    const rotation = await rotateKeys({
      keySets,
      table,
      async *scan(): AsyncGenerator<Item> {
        await secrets.remove("team", "a");
        yield* items;
      },
      now: () => clock.now,
      sleep: async () => undefined,
    });
    expect(rotation.values).toBe(2);
    expect(await secrets.getAll("team", ["a"])).toEqual(new Map());
  });

  it("can be repeated after it was interrupted", async () => {
    const { secrets, rotate, keyOf, readKeySet } = await makeDeployment();
    const interrupted = rotate(async () => {
      throw new Error("the connection is lost");
    });
    await expect(interrupted).rejects.toThrow("the connection is lost");
    expect(await secrets.getAll("team", ["a"])).toEqual(new Map([["a", "value of a"]]));
    expect((await rotate()).values).toBe(3);
    expect(keyOf("a")).toBe((await readKeySet(0)).at(-1)?.id);
  });

  it("keeps former keys as long as backups of the table need them", async () => {
    const { clock, rotate, readKeySet } = await makeDeployment();
    await rotate();
    clock.now += 35 * DAY_MS;
    await rotate();
    expect(await readKeySet(0)).toHaveLength(3);
    clock.now += 2 * DAY_MS;
    await rotate();
    const ages = (await readKeySet(0)).map(({ created_at }) => Math.round((clock.now - created_at) / DAY_MS));
    expect(ages).toEqual([37, 2, 0]);
  });

  it("keeps the key that another rotation adds meanwhile, when it removes old ones", async () => {
    const { clock, secrets, rotate, readKeySet } = await makeDeployment();
    await rotate();
    clock.now += 37 * DAY_MS;
    await rotate(async () => {
      await rotate();
      await secrets.put("team", "late", "value");
    });
    expect(await readKeySet(0)).toHaveLength(3);
    expect(await secrets.getAll("team", ["a", "late"])).toEqual(
      new Map([
        ["a", "value of a"],
        ["late", "value"],
      ]),
    );
  });

  it("does nothing before the first secret", async () => {
    const rotation = { keySets: [memoryKeySetStore()], table: memoryTable(), now: Date.now };
    const never = async () => expect.unreachable();
    expect(await rotateKeys({ ...rotation, scan: async function* () {}, sleep: never })).toEqual({
      keys: 0,
      values: 0,
    });
  });
});

describe("the move of values from Systems Manager", () => {
  it("stores each in the table before it deletes the parameter, and stores none that was deleted meanwhile", async () => {
    const client = new SSMClient({
      region: "eu-west-1",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    });
    const encoded = `base64:${Buffer.from("{{a}}").toString("base64")}`;
    const calls = respondToCalls(
      client,
      { Parameters: [{ Name: "/ours/team/a", Value: "one" }, { Name: "/ours/other" }], NextToken: "next" },
      {
        Parameters: [
          { Name: "/ours/team/gone", Value: "two" },
          { Name: "/ours/other/b", Value: encoded },
        ],
      },
      {},
      new ParameterNotFound({ message: "refused", $metadata: {} }),
      {},
    );
    const { table, secrets } = await makeDeployment();
    expect(await moveValues(client, "/ours", secrets)).toBe(3);
    expect(await secrets.getAll("team", ["a", "gone"])).toEqual(new Map([["a", "one"]]));
    expect(await secrets.getAll("other", ["b"])).toEqual(new Map([["b", "{{a}}"]]));
    expect(JSON.stringify(table.all())).not.toContain("{{a}}");
    expect(calls.slice(2)).toEqual(
      ["/ours/team/a", "/ours/team/gone", "/ours/other/b"].map((Name) => `DeleteParameter ${JSON.stringify({ Name })}`),
    );
  });
});

describe("a rotation without a KMS key", () => {
  const NAMES = ["/runyard/vault/secrets", "/runyard/vault/webhook-secrets"];

  it.each([
    ["that AWS keeps", [{ Name: NAMES[0], KeyId: "alias/aws/ssm" }, { Name: NAMES[1] }]],
    ["that do not exist yet", []],
  ])("is accepted for parameters with the key %s", async (_, Parameters) => {
    const ssm = new SSMClient({ region: "eu-west-1" });
    const calls = respondToCalls(ssm, { Parameters });
    await throwIfOwnKey(ssm, NAMES);
    const filter = { Key: "Name", Option: "Equals", Values: NAMES };
    expect(calls).toEqual([`DescribeParameters ${JSON.stringify({ ParameterFilters: [filter] })}`]);
  });

  it("is refused where a parameter has another key, which would silently be given up", async () => {
    const ssm = new SSMClient({ region: "eu-west-1" });
    respondToCalls(ssm, { Parameters: [{ Name: NAMES[0], KeyId: "arn:aws:kms:x" }] });
    const refused = await throwIfOwnKey(ssm, NAMES).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      message: "/runyard/vault/secrets is encrypted with the KMS key arn:aws:kms:x.",
      details: [
        "To keep it, repeat the command with --kms-key arn:aws:kms:x.",
        "To return to the key of AWS, repeat it with --kms-key alias/aws/ssm.",
      ],
    });
  });
});
