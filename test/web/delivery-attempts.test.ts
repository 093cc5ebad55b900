import { expect, it } from "vitest";
import { isSuccess, latestAttempt } from "../../web/settings/delivery-attempts.ts";

const attempt = (attempted_at: string, status_code?: number) => ({
  ...{ attempted_at, duration_ms: 5 },
  ...(status_code === undefined ? {} : { status_code }),
});

it("latestAttempt finds the latest attempt of all deliveries, whichever it belongs to", () => {
  const older = { attempts: [attempt("2026-05-18T19:00:00.000Z", 500), attempt("2026-05-18T19:09:00.000Z", 503)] };
  const newer = { attempts: [attempt("2026-05-18T19:05:00.000Z", 204)] };
  expect(latestAttempt([newer, older])?.status_code).toBe(503);
  expect(latestAttempt([{ attempts: [] }])).toBeUndefined();
});

it("isSuccess takes 2xx only, and no missing response", () => {
  expect([isSuccess(204), isSuccess(302), isSuccess(500), isSuccess()]).toEqual([true, false, false, false]);
});
