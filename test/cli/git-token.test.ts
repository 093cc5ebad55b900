import { expect, it } from "vitest";
import { tokenVariables } from "../../cli/src/changes/git.ts";

it("tokenVariables send the token to one URL over HTTP, and never ask for a password", () => {
  const url = "https://github.com/acme/shop.git";
  expect(tokenVariables(url, "ghp_mine")).toEqual({
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${url}.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from("x-access-token:ghp_mine").toString("base64")}`,
  });
  for (const other of ["git@github.com:acme/shop.git", "ssh://git@github.com/acme/shop.git", "file:///shop.git"])
    expect(tokenVariables(other, "ghp_mine")).toEqual({ GIT_TERMINAL_PROMPT: "0" });
});
