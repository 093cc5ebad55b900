import { describe, expect, it } from "vitest";
import { isSameRepository, parseHttpsRepository, resolveSubmoduleUrl } from "#shared/wire/repository-url.ts";

describe("parseHttpsRepository", () => {
  it.each([
    ["https://git.example/acme/shop.git", { host: "git.example", owner: "acme", path: "acme/shop" }],
    ["https://GIT.example:8443/Acme/group/shop/", { host: "git.example:8443", owner: "Acme", path: "Acme/group/shop" }],
    ["https://www.github.com/Acme/Shop", { host: "github.com", owner: "acme", path: "acme/shop" }],
    ["https://git.example/a/../b/c", { host: "git.example", owner: "b", path: "b/c" }],
    ["https://git.example/shop", { host: "git.example", owner: undefined, path: "shop" }],
    ["http://git.example/acme/shop", undefined],
    ["ssh://git@git.example/acme/shop", undefined],
    ["git@git.example:acme/shop", undefined],
    ["file:///srv/acme/shop", undefined],
    ["https://git.example/acme/shop?token=1", undefined],
    ["https://git.example/acme/shop#main", undefined],
  ])("of %s", (url, expected) => {
    expect(parseHttpsRepository(url)).toEqual(expected);
  });
});

describe("isSameRepository", () => {
  it.each([
    ["https://git.example/acme/shop", "https://GIT.EXAMPLE:443/acme/shop.git/", true],
    ["https://github.com/acme/shop", "https://www.github.com/ACME/Shop.git", true],
    ["https://git.example/acme/shop", "https://git.example/ACME/shop", false],
    ["https://git.example/acme/shop", "https://git.example.evil.example/acme/shop", false],
    ["https://git.example/acme/shop", "https://git.example:8443/acme/shop", false],
    ["https://git.example/acme/shop", "https://git.example/acme/shop2", false],
    ["file:///srv/shop", "file:///srv/shop", false],
  ])("of %s and %s", (one, other, expected) => {
    expect([isSameRepository(one, other), isSameRepository(other, one)]).toEqual([expected, expected]);
  });
});

describe("resolveSubmoduleUrl", () => {
  const repository = "https://git.example/acme/shop.git";

  it.each([
    ["../lib.git", "https://git.example/acme/lib.git"],
    ["./lib", "https://git.example/acme/shop.git/lib"],
    ["../../other/lib/", "https://git.example/other/lib"],
    ["../../../../lib", "https://git.example/lib"],
    ["https://git.example/acme/%2e%2e/other/lib", "https://git.example/other/lib"],
    ["https:\\\\git.example\\acme\\lib", "https://git.example/acme/lib"],
    ["lib", undefined],
    ["/acme/lib", undefined],
    ["//evil.example/acme/lib", undefined],
    ["https://me:pass@git.example/acme/lib", undefined],
    ["https://git.example@evil.example/acme/lib", undefined],
    ["https://git.example/acme/lib\n", undefined],
    ["http://git.example/acme/lib", undefined],
    ["git@git.example:acme/lib", undefined],
    ["ext::sh -c true", undefined],
    ["-oProxyCommand=true", undefined],
  ])("of %j", (url, expected) => {
    expect(resolveSubmoduleUrl(url, repository)).toBe(expected);
  });
});
