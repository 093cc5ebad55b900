import { describe, expect, it } from "vitest";
import { truncatePrompts } from "#shared/skills/list-agents.ts";

const note = "\n[truncated here; the repository has the whole prompt]";
const listPrompts = (lengths: readonly number[]) => lengths.map((length) => ({ base_prompt: "é".repeat(length) }));

describe("truncatePrompts", () => {
  it("leaves prompts of up to 3 MiB as JSON as they are", () => {
    // Each has two quotation marks.
    const whole = listPrompts([(3 * 1024 * 1024 - 4) / 2 - 8, 8]);
    expect(truncatePrompts(whole)).toBe(whole);
    expect(truncatePrompts(listPrompts([(3 * 1024 * 1024 - 4) / 2 - 8, 9]))[0]?.base_prompt).toContain(note);
  });

  it("truncates the prompts that are longer than their share of a half, at the end of a character", () => {
    // A half of 3 MiB for 50 prompts is 31,457 bytes of each.
    const prompts = truncatePrompts(listPrompts([...Array.from({ length: 48 }, () => 32_768), 15_728, 15_729]));
    const texts = prompts.map(({ base_prompt }) => base_prompt);
    const cut = "é".repeat(15_728) + note;
    expect(texts.map((text) => [text.length, text.endsWith(note)])).toEqual(
      [...Array.from({ length: 48 }, () => cut), "é".repeat(15_728), cut].map((text) => [
        text.length,
        text !== "é".repeat(15_728),
      ]),
    );
    expect(texts[0]).toBe(cut);
  });

  it("leaves a prompt that has exactly its share", () => {
    const [first, last] = truncatePrompts([
      { base_prompt: "x".repeat(3 * 1024 * 1024) },
      { base_prompt: "y".repeat(786_432) },
    ]);
    expect(first?.base_prompt).toBe("x".repeat(786_432) + note);
    expect(last?.base_prompt).toBe("y".repeat(786_432));
  });
});
