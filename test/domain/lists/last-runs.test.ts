import { describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { readLatestRuns } from "#shared/skills/last-run-store.ts";
import { scopeKey } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";

const OWNER = { type: "Team", uid: "team" } as const;
const NOW = Date.parse("2026-05-18T19:00:00Z");

describe("readLatestRuns", () => {
  it.each([
    [299, { read: 299, isComplete: true }],
    [301, { read: 300, isComplete: false }],
  ])("reads at most 300 skills: of %i", async (count, expected) => {
    const table = memoryTable();
    for (let skill = 0; skill < count; skill++) {
      const agent_key = `0#acme/shop:skill-${skill}\u0000${uuidv7(NOW + skill)}`;
      await table.write({ kind: "put", item: { pk: `RUN#${skill}`, sk: "HEAD", scope: scopeKey(OWNER), agent_key } });
    }
    const [shard] = await readLatestRuns(OWNER, table);
    expect({ read: shard?.found.length, isComplete: shard?.isComplete }).toEqual(expected);
    expect(shard?.found).toContainEqual(["acme/shop:skill-99", NOW + 99]);
  });
});
