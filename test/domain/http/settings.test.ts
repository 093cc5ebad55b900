import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import { createdAtOf, deriveUuid, isUuid, sha256, uuidv7 } from "#shared/ids.ts";
import { loggedPath, logLine, setLogOutput } from "#shared/log/log.ts";
import { seededRandom } from "#shared/random.ts";
import {
  hasTenants,
  listSetting,
  maxExecutions,
  offeredSandboxes,
  rateLimitPerMinute,
  sandboxStartSeconds,
  setting,
  settingIfAny,
  signedUrlSeconds,
  workerClaimSeconds,
} from "#shared/settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

describe("a setting", () => {
  it("is missing if it is absent or empty, which an error names", () => {
    vi.stubEnv("TABLE_NAME", "");
    expect(settingIfAny("TABLE_NAME")).toBeUndefined();
    expect(() => setting("TABLE_NAME")).toThrow("setting TABLE_NAME is missing");
    vi.stubEnv("TABLE_NAME", "runyard");
    expect([settingIfAny("TABLE_NAME"), setting("TABLE_NAME")]).toEqual(["runyard", "runyard"]);
  });

  const NUMBERS = [
    ["SIGNED_URL_SECONDS", signedUrlSeconds, 900, 5, 604_800],
    ["WORKER_CLAIM_SECONDS", workerClaimSeconds, 60, 1, 3_600],
    ["SANDBOX_START_SECONDS", () => sandboxStartSeconds(7), 7, 1, 3_600],
    ["MAX_EXECUTIONS", maxExecutions, undefined, 1, undefined],
    ["CREATES_PER_MINUTE", () => rateLimitPerMinute("CREATES_PER_MINUTE"), undefined, 1, undefined],
  ] as const;
  it.each(NUMBERS)("%s is a whole number within its limits, or the default", (name, read, otherwise, least, most) => {
    vi.stubEnv(name, undefined);
    expect(read()).toBe(otherwise);
    for (const number of [least, most ?? 1_000_000]) {
      vi.stubEnv(name, String(number));
      expect(read()).toBe(number);
    }
    for (const wrong of [least - 1, (most ?? Number.NaN) + 1, least + 0.5, "many"]) {
      vi.stubEnv(name, String(wrong));
      expect(read, String(wrong)).toThrow();
    }
  });

  it("that is a list has its parts between commas", () => {
    vi.stubEnv("DISABLED_MODELS", undefined);
    expect(listSetting("DISABLED_MODELS")).toEqual([]);
    vi.stubEnv("DISABLED_MODELS", "a,b");
    expect(listSetting("DISABLED_MODELS")).toEqual(["a", "b"]);
  });

  it("lists the available sandboxes: MicroVMs only where the region has them", () => {
    vi.stubEnv("SANDBOXES", undefined);
    vi.stubEnv("MICROVM_IMAGE_ARN", undefined);
    expect(offeredSandboxes()).toEqual(["lambda"]);
    vi.stubEnv("SANDBOXES", "microvm,other,fargate");
    expect(offeredSandboxes()).toEqual(["fargate"]);
    vi.stubEnv("MICROVM_IMAGE_ARN", "arn");
    expect(offeredSandboxes()).toEqual(["microvm", "fargate"]);
  });

  it("says whether executions are tenants, which they are by default", () => {
    vi.stubEnv("SANDBOX_TENANCY", undefined);
    expect(hasTenants()).toBe(true);
    vi.stubEnv("SANDBOX_TENANCY", "shared");
    expect(hasTenants()).toBe(false);
  });
});

describe("logLine", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    setLogOutput((line) => void lines.push(line));
  });
  afterEach(() => setLogOutput((line) => void process.stdout.write(line)));

  it("writes one line of JSON, with errors and their causes", () => {
    vi.useFakeTimers({ now: Date.parse("2026-05-18T19:00:00Z") });
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "runyard-get-run");
    const error = new TypeError("bad", { cause: new Error("worse") });
    logLine("warn", "it failed", {
      error,
      nested: { list: [new Error("inner", { cause: "text" })] },
      empty: undefined,
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      level: "warn",
      message: "it failed",
      timestamp: "2026-05-18T19:00:00.000Z",
      service: "runyard-get-run",
      error: { name: "TypeError", message: "bad", stack: error.stack, cause: "worse" },
      nested: { list: [{ name: "Error", message: "inner", stack: expect.any(String), cause: "text" }] },
    });
    logLine("info", "plain");
    expect(JSON.parse(lines[1] ?? "")).not.toHaveProperty("error");
  });

  it("shows the paths of invitations without their tokens", () => {
    expect(loggedPath("/api/v1/agent/invitations/secret/accept")).toBe("/api/v1/agent/invitations/***/accept");
    expect(loggedPath("/api/v1/agent/teams/t/invitations")).toBe("/api/v1/agent/teams/t/invitations");
  });
});

describe("ids", () => {
  it("contain the time of their creation, and their version and variant", () => {
    const id = uuidv7(Date.parse("2026-05-18T19:00:00.123Z"));
    expect(createdAtOf(id)).toBe(Date.parse("2026-05-18T19:00:00.123Z"));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([createdAtOf("none"), createdAtOf(`${id}0`), isUuid(id.toUpperCase())]).toEqual([0, 0, false]);
  });

  it("that are derived never change, because they are stored", () => {
    expect(deriveUuid("run", "PLAN", "1")).toBe("64d1ff4e-b9e3-8d27-9b64-ed48853384e2");
    expect(sha256("a")).toBe("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
  });
});

describe("seededRandom", () => {
  it("returns the same numbers for the same seed, between 0 and 1", () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 4 }, () => Math.floor(random() * 1_000_000));
    };
    expect(draw(1)).toEqual([627_073, 2_735, 527_447, 981_050]);
    expect(draw(2)).not.toEqual(draw(1));
    expect(draw(-1)).toEqual(draw(2 ** 32 - 1));
  });
});

describe("RunyardError", () => {
  it("has the defaults of its code, unless it says otherwise", () => {
    expect({ ...new RunyardError("internal_error") }).toEqual({
      name: "RunyardError",
      code: "internal_error",
      detail: undefined,
      errors: undefined,
      status: 500,
      retryable: true,
      retryAfterSeconds: 1,
      headers: {},
    });
    const cause = new Error("why");
    const details = { detail: "d", status: 413, retryable: false, headers: { allow: "GET" }, cause };
    const error = new RunyardError("invalid_request", details);
    expect({ ...error, message: error.message, cause: error.cause }).toEqual({
      name: "RunyardError",
      code: "invalid_request",
      message: "d",
      errors: undefined,
      retryAfterSeconds: undefined,
      ...details,
    });
    expect(new RunyardError("conflict", { retryable: true, retryAfterSeconds: 9 }).retryAfterSeconds).toBe(9);
    expect(new RunyardError("conflict").message).toBe("The request conflicts with the current state");
  });

  it("names an invalid field, a missing resource or a retryable conflict", () => {
    expect(invalid("a", "b")).toMatchObject({
      code: "invalid_request",
      message: "a: b",
      errors: [{ path: "a", message: "b" }],
    });
    expect(notFound("run")).toMatchObject({ code: "resource_not_found", message: "there is no such run" });
    expect(retryableConflict("again")).toMatchObject({
      code: "conflict",
      detail: "again",
      retryable: true,
      retryAfterSeconds: 1,
    });
  });
});
