import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import * as v from "valibot";
import { beforeEach, describe, expect, it } from "vitest";
import { EmailAddress, isEmailAddress } from "#shared/wire/email.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

const REFUSED = [
  ["a zero-width space", "ada\u200b@runyard.test"],
  ["a zero-width joiner in the domain", "ada@run\u200dyard.test"],
  ["a byte order mark", "\ufeffada@runyard.test"],
  ["a soft hyphen", "ada@run\u00adyard.test"],
  ["a right-to-left override", "\u202eada@runyard.test"],
  ["a bidirectional isolate", "ada\u2066@runyard.test"],
  ["a Cyrillic letter", "\u0430da@runyard.test"],
  ["a Cyrillic domain", "ada@r\u0443nyard.test"],
  ["a whole name in Cyrillic letters", "\u0430\u0441\u0435@runyard.test"],
  ["full-width letters", "\uff41da@runyard.test"],
  ["an ideographic full stop", "ada@runyard\u3002test"],
  ["a ligature", "\ufb01ona@runyard.test"],
  ["a combining accent", "ada\u0301@runyard.test"],
  ["a variation selector", "ada\ufe0f@runyard.test"],
  ["a control character", "ada\u0000@runyard.test"],
  ["a tag character", "ada\u{e0041}@runyard.test"],
] as const;

const ACCEPTED = [
  "ada@runyard.test",
  "Ada.Lovelace+runs@Mail.Runyard.test",
  "o'brien/x=1@a-b.example",
  "ada@xn--bcher-kva.example",
  "local@localhost",
];

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

describe("an address that looks like another one", () => {
  it.each(REFUSED)("is refused by invitations and profiles, and names no account, with %s", async (_, email) => {
    const before = structuredClone(plane.table.all());
    const client = createClient(plane);
    const invited = await client.post(`/agent/teams/${plane.team}/invitations`, { email });
    expect([invited.status, invited.body.detail]).toEqual([400, expect.stringMatching(/^email: /)]);
    const changed = await client.put("/agent/me", { email });
    expect([changed.status, changed.body.detail]).toEqual([400, expect.stringMatching(/^email: /)]);
    expect(plane.table.all()).toEqual(before);
    expect(isEmailAddress(email), "the sign-in and the first start").toBe(false);
  });

  it.each(ACCEPTED)("is not %s, which can be invited", async (email) => {
    const invited = await createClient(plane).post(`/agent/teams/${plane.team}/invitations`, { email });
    expect([invited.status, invited.body.email]).toEqual([201, email]);
    expect(isEmailAddress(email)).toBe(true);
  });
});

describe("the schema of addresses", () => {
  const file = path.resolve(import.meta.dirname, "../../docs/openapi.json");
  const Documented = v.object({ minLength: v.number(), maxLength: v.number(), pattern: v.string() });
  const { components } = v.parse(
    v.object({
      components: v.object({
        schemas: v.object({ CreateInvitationRequest: v.object({ properties: v.object({ email: Documented }) }) }),
      }),
    }),
    JSON.parse(readFileSync(file, "utf8")),
  );
  const { minLength, maxLength, pattern } = components.schemas.CreateInvitationRequest.properties.email;
  const documented = (email: string) =>
    [...email].length >= minLength && [...email].length <= maxLength && new RegExp(pattern, "u").test(email);

  it("accepts exactly what the OpenAPI document states, all of it ASCII without whitespace", () => {
    const near = fc.stringMatching(/^[a-z0-9.+_-]{1,9}@[a-z0-9-]{1,9}(\.[a-z0-9-]{1,9}){0,2}$/);
    const any = fc.oneof(
      near,
      fc.string({ unit: "binary" }),
      fc.tuple(near, fc.string()).map(([a, b]) => a + b),
    );
    fc.assert(
      fc.property(any, (email) => {
        expect(v.is(EmailAddress, email)).toBe(documented(email));
        if (isEmailAddress(email)) expect(email).toMatch(/^[!-~]+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
