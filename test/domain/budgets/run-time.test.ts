import { describe, expect, it } from "vitest";
import { parseRunHead } from "#shared/records/run-head.ts";
import { computeCost, countRunTime } from "#shared/records/run-time.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const RUN = "019e3c75-9780-7b78-8a54-7a196032b69b";
const MINUTE = 60_000;

const createHead = (attributes: object, location = "REMOTE") =>
  parseRunHead({
    pk: `RUN#${RUN}`,
    sk: "HEAD",
    scope: "TEAM#t",
    updated_key: `${NOW}#${RUN}`,
    state: "INPROGRESS",
    p: { creator: "c", source: "API", location },
    ...{ execution_id: "e", key_hash: "h", heartbeat_at: NOW, state_since: NOW - 30 * MINUTE },
    ...attributes,
  });
const container = { sandbox: { provider: "fargate" } };

describe("countRunTime", () => {
  it("adds the time of the execution that ends", () => {
    expect(countRunTime(createHead({ run_time_ms: 500 }), NOW)).toEqual({ run_time_ms: 500 + 30 * MINUTE });
  });

  it.each(["fargate", "microvm", "worker"])(
    "notes which of it was spent in the provider %s, without a price",
    (provider) => {
      const time = 30 * MINUTE;
      expect(countRunTime(createHead({ sandbox: { provider } }), NOW)).toEqual({
        run_time_ms: time,
        unpriced_time_ms: time,
      });
      const second = createHead({ run_time_ms: time, unpriced_time_ms: time });
      expect(countRunTime(second, NOW)).toEqual({ run_time_ms: 2 * time, unpriced_time_ms: time });
    },
  );
});

describe("computeCost", () => {
  it("is the price of the time in billionths of a dollar, without that of sandboxes whose price is not known", () => {
    expect(computeCost(createHead({}), NOW, 0.1)).toBe(50_000_000);
    expect(computeCost(createHead({ run_time_ms: 60 * MINUTE, unpriced_time_ms: 30 * MINUTE }), NOW, 0.1)).toBe(
      100_000_000,
    );
    expect(computeCost(createHead({ state_since: NOW + 1 }), NOW, 0.1)).toBe(0);
  });

  it("is undefined where no price is known", () => {
    expect(computeCost(createHead({}), NOW, undefined)).toBeUndefined();
    expect(computeCost(createHead(container), NOW, 0.1)).toBeUndefined();
  });

  it("is 0 for a run that its caller executes", () => {
    expect(computeCost(createHead({}, "LOCAL"), NOW, 0.1)).toBe(0);
  });
});
