import { RootConstruct } from "constructs";
import { describe, expect, it } from "vitest";
import { readSettings } from "#infra/read-settings.ts";
import type { Settings } from "#infra/settings.ts";

/** The settings of a construct that is no App, since each App makes a folder. */
function read(context: Record<string, string>): Settings {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries({ accountConcurrency: "1000000", ...context })) {
    node.setContext(name, value);
  }
  return readSettings(node);
}

/** Each number that an operator sets, with the least and the most that is accepted. */
const NUMBERS: readonly (readonly [name: keyof Settings, least: number, most: number])[] = [
  ["accountConcurrency", 10, 1_000_000],
  ["createsPerMinute", 1, 1_000_000],
  ["dispatchConcurrency", 2, 1_000],
  ["followupsPerMinute", 1, 1_000_000],
  ["keysPerMinute", 1, 1_000_000],
  ["sandboxConcurrency", 1, 100_000],
  ["sandboxDiskMb", 512, 10_240],
  ["sandboxMemoryMb", 512, 10_240],
  ["sandboxSeconds", 10, 900],
  ["workerClaimSeconds", 1, 3_600],
];

describe("readSettings", () => {
  it.each(NUMBERS)("accepts %s from %i to %i, and no other number", (name, least, most) => {
    for (const number of [least, most]) expect(read({ [name]: String(number) })[name]).toBe(number);
    for (const number of [least - 1, most + 1, least + 0.5, "many"]) {
      const range = `context "${name}" must be a whole number from ${least} to ${most}, not "${number}"`;
      expect(() => read({ [name]: String(number) }), String(number)).toThrow(range);
    }
  });

  it.each(["frontDoor", "sandboxTenancy"] as const)("takes %s as true unless it is false", (name) => {
    expect([read({})[name], read({ [name]: "" })[name], read({ [name]: "true" })[name]]).toEqual([true, true, true]);
    expect(read({ [name]: "false" })[name]).toBe(false);
  });

  it.each(["bedrock", "reserveConcurrency"] as const)("takes %s as false unless it is true", (name) => {
    expect([read({})[name], read({ [name]: "yes" })[name], read({ [name]: "true" })[name]]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
