import { describe, expect, it } from "vitest";
import type { Environment } from "#shared/environments/environment.ts";
import { findPlaces, listPlaces, parseCredentials, toBaseUrl, toStorageKey } from "#shared/skills/repository.ts";

const ADA = { type: "user", uid: "ada", display_name: "Ada", email: "ada@runyard.test" } as const;
const TEAMS = ["alpha"];
const environment = (uid: string, repositories: Environment["repositories"]): Environment => ({
  uid,
  owner: { type: "User", uid: "ada" },
  name: uid.toUpperCase(),
  created_at: 0,
  updated_at: 0,
  creator: ADA,
  last_editor: ADA,
  guests: new Set(),
  ...(repositories === undefined ? {} : { repositories }),
});

describe("toStorageKey", () => {
  const key = (url: string, ref?: string) =>
    toStorageKey({ url, ...(ref === undefined ? {} : { ref }), teams: ["alpha"] });

  it("is the same for all forms of a URL on GitHub", () => {
    const forms = ["https://github.com/acme/shop", "git@github.com:Acme/Shop.git", "ssh://git@github.com/acme/shop/"];
    expect(new Set(forms.map((url) => key(url))).size).toBe(1);
  });

  it("differs by the teams of who reads, in any order, where the deployment's credentials are used", () => {
    const of = (url: string, ...teams: string[]) => toStorageKey({ url, teams });
    const shop = "https://github.com/acme/shop";
    expect(of(shop, "alpha")).not.toBe(of(shop, "beta"));
    expect(of(shop, "alpha", "beta")).toBe(of(shop, "beta", "alpha"));
    for (const url of ["https://one@github.com/acme/shop", "https://git.test/acme/shop"]) {
      expect(of(url, "alpha")).toBe(of(url, "beta"));
    }
  });

  it("differs by ref, by credential, and by the form of a URL elsewhere", () => {
    const all = [
      key("https://github.com/acme/shop"),
      key("https://github.com/acme/shop", "main"),
      key("https://one@github.com/acme/shop"),
      key("https://one:two@github.com/acme/shop"),
      key("https://git.test/acme/shop"),
      key("https://git.test/acme/Shop"),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

it.each([
  ["https://user:to%20ken@git.test/a/b", ["user", "to ken"]],
  ["HTTPS://token@git.test/a/b", ["token"]],
  ["https://git.test/a/b", []],
  ["ssh://git@git.test/a/b", []],
  ["xhttps://user:token@git.test/a/b", []],
  ["git@git.test:a/b", []],
])("parseCredentials returns those of %s", (url, credentials) => {
  expect(parseCredentials(url)).toEqual(credentials);
});

it.each([
  ["https://token@git.test/A/b.git", "https://git.test/A/b"],
  ["https://git.test/a/b///", "https://git.test/a/b"],
  ["git@git.test:a/b.git", "git@git.test:a/b"],
  ["https://github.com/Acme/Shop.git", "github:acme/shop"],
])("toBaseUrl identifies %s", (url, base) => {
  expect(toBaseUrl(url)).toBe(base);
});

describe("listPlaces", () => {
  it("lists each repository once, by owner, name, URL and ref, with the environments that name it", () => {
    const places = listPlaces(
      [
        environment("e1", [
          { url: "https://github.com/acme/web" },
          { url: "https://github.com/acme/shop", ref: "next" },
          { url: "https://github.com/acme/shop", path: "a" },
          { url: "https://github.com/acme/shop", path: "b" },
        ]),
        environment("e2", undefined),
        environment("e3", [{ url: "https://github.com/acme/shop" }, { url: "https://git.test/Abc/tools" }]),
      ],
      TEAMS,
    );
    const [one, three] = [
      { uid: "e1", name: "E1" },
      { uid: "e3", name: "E3" },
    ];
    expect(places).toEqual([
      { url: "https://git.test/Abc/tools", owner: "Abc", name: "tools", teams: TEAMS, environments: [three] },
      { url: "https://github.com/acme/shop", owner: "acme", name: "shop", teams: TEAMS, environments: [one, three] },
      {
        url: "https://github.com/acme/shop",
        ref: "next",
        owner: "acme",
        name: "shop",
        teams: TEAMS,
        environments: [one],
      },
      { url: "https://github.com/acme/web", owner: "acme", name: "web", teams: TEAMS, environments: [one] },
    ]);
  });

  it("lists no repository of environments without any", () => {
    expect(listPlaces([environment("e1", undefined), environment("e2", [])], TEAMS)).toEqual([]);
  });
});

describe("findPlaces", () => {
  const places = listPlaces(
    [
      environment("e1", [
        { url: "https://github.com/acme/shop" },
        { url: "https://github.com/acme/shop", ref: "next" },
        { url: "https://git.test/acme/shop" },
        { url: "https://git.test/tools/kit.git" },
      ]),
    ],
    TEAMS,
  );
  const find = (repo: string) =>
    findPlaces(repo, places, TEAMS).map(({ url, ref }) => (ref === undefined ? url : `${url}@${ref}`));

  it.each([
    ["Acme/SHOP", ["https://git.test/acme/shop", "https://github.com/acme/shop", "https://github.com/acme/shop@next"]],
    ["https://github.com/ACME/shop.git", ["https://github.com/acme/shop", "https://github.com/acme/shop@next"]],
    ["https://git.test/tools/kit", ["https://git.test/tools/kit.git"]],
    ["https://git.test/tools/other", ["https://git.test/tools/other"]],
    ["acme/other", ["https://github.com/acme/other"]],
  ])("finds %s in the environments, else the repository itself", (repo, urls) => {
    expect(find(repo)).toEqual(urls);
  });

  it("returns a repository in no environment with its owner and name", () => {
    expect(findPlaces("acme/other", places, TEAMS)).toEqual([
      { url: "https://github.com/acme/other", owner: "acme", name: "other", environments: [], teams: TEAMS },
    ]);
    expect(findPlaces("https://git.test/tools/other.git", places, TEAMS)).toEqual([
      { url: "https://git.test/tools/other.git", owner: "tools", name: "other", environments: [], teams: TEAMS },
    ]);
  });

  it.each([`${"a".repeat(101)}/b`, `a/${"b".repeat(101)}`, "a/..", "a/.", "/b", "a/b/c", "-a/b", "a/b c"])(
    "refuses the name %s",
    (repo) => {
      expect(() => findPlaces(repo, places, TEAMS)).toThrow(
        expect.objectContaining({ errors: [expect.objectContaining({ path: "repo" })] }),
      );
    },
  );

  it("accepts a name of 100 characters", () => {
    const [owner, name] = ["a".repeat(100), "b".repeat(100)];
    expect(findPlaces(`${owner}/${name}`, places, TEAMS)).toMatchObject([{ owner, name }]);
  });
});
