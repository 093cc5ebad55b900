import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const Survivors = v.array(v.object({ because: v.string(), caught_together: v.optional(v.boolean(), false) }));
const survivors = v.parse(Survivors, JSON.parse(read("test/reliability/survivors.json")));

describe("docs/reliability.md", () => {
  it.each(survivors.filter(({ caught_together }) => !caught_together))(
    "explains why no test catches it: $because",
    ({ because }) => {
      expect(read("docs/reliability.md")).toContain(because);
    },
  );
});
