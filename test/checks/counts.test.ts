import { expect, it } from "vitest";
import { splitEdits } from "../../lab/counts.ts";

it("splitEdits separates the files of a change that tools write from those that people edit", () => {
  const generated = [
    "docs/openapi.json",
    "server/http/endpoints.ts",
    "clients/python/src/runyard/types.py",
    "test/domain/http/schemas.txt",
    "events/http/create-run.json",
  ];
  const byHand = ["infra/routes.ts", "clients/methods.json", "test/events/expectations.ts", "shared/removed.ts"];
  expect(splitEdits([...generated, ...byHand])).toEqual({ byHand, generated });
});
