import { describe, expect, it } from "vitest";
import { localModels } from "../../server/host/models.ts";
import { Problem } from "../../server/host/terminal.ts";

const read = (url: string) =>
  localModels({ RUNYARD_COMPATIBLE_BASE_URL: url, RUNYARD_COMPATIBLE_MODELS: "tiny", RUNYARD_COMPATIBLE_API_KEY: "k" });

/** What an error shows. */
function describeRefusal(url: string): string {
  try {
    read(url);
  } catch (error) {
    if (error instanceof Problem) return [error.message, ...error.details].join("\n");
    throw error;
  }
  return "";
}

describe("the address of a model provider", () => {
  it.each([
    "https://user:hunter2@models.example/v1",
    "https://hunter2@models.example/v1",
    "https://:hunter2@models.example/v1",
    "http://user:hunter2@127.0.0.1:11434/v1",
  ])("is refused with a credential, which the error does not show: %s", (url) => {
    const shown = describeRefusal(url);
    expect(shown).toMatch(/RUNYARD_COMPATIBLE_BASE_URL.*RUNYARD_COMPATIBLE_API_KEY/s);
    expect(shown).not.toContain("hunter2");
  });

  it("is accepted without one", () => {
    expect(read("https://models.example/v1?a=b@c").compatible?.baseUrl).toBe("https://models.example/v1?a=b@c");
  });
});
