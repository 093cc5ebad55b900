import { afterEach, describe, expect, it, vi } from "vitest";
import { assignClonePaths } from "#harness/git/clone.ts";
import { chooseToken, findCredentials, separateCredential } from "#harness/git/repository-access.ts";
import { pinRepositoryAddress } from "#harness/git/repository-address.ts";
import { buildGitEnvironment, takeLastLines } from "#harness/git/run-git.ts";

afterEach(() => vi.unstubAllEnvs());

const PROXIES = [
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

describe("buildGitEnvironment", () => {
  it("has nothing of the host but its PATH and how its network is reached", () => {
    for (const name of PROXIES) vi.stubEnv(name, undefined);
    vi.stubEnv("PATH", "/tools");
    vi.stubEnv("GIT_DIR", "/elsewhere");
    const own = {
      PATH: "/tools",
      HOME: "/etc-of-git",
      LANG: "C.UTF-8",
      GIT_CONFIG_GLOBAL: "/etc-of-git/gitconfig",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ASKPASS: "true",
      GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oConnectTimeout=20",
      GIT_LFS_SKIP_SMUDGE: "1",
    };
    expect(buildGitEnvironment("/etc-of-git")).toStrictEqual(own);
    for (const name of PROXIES) vi.stubEnv(name, `value of ${name}`);
    const settings = Object.fromEntries(PROXIES.map((name) => [name, `value of ${name}`]));
    expect(buildGitEnvironment("/etc-of-git")).toEqual({ ...settings, ...own });
    vi.stubEnv("PATH", undefined);
    expect(buildGitEnvironment("/etc-of-git")["PATH"]).toBe("/usr/local/bin:/usr/bin:/bin");
  });
});

describe("pinRepositoryAddress", () => {
  it.each([
    ["https://127.0.0.1:8443/a/b", []],
    ["https://[::1]/a/b", []],
    ["file:///srv/a", []],
    ["ssh://git@localhost/a/b", []],
    ["git@localhost:a/b", []],
    ["git@alias.invalid:a/b", []],
    ["ssh://git@alias.invalid/a/b", []],
  ])("leaves the address of %s to git", async (url, expected) => {
    for (const name of PROXIES) vi.stubEnv(name, undefined);
    expect(await pinRepositoryAddress(url)).toEqual(expected);
  });

  it("pins all addresses of an https URL, with its port", async () => {
    for (const name of PROXIES) vi.stubEnv(name, "");
    const address = String.raw`(127\.0\.0\.1|\[::1\])`;
    const [option, value] = await pinRepositoryAddress("https://localhost/a/b");
    expect(option).toBe("-c");
    expect(value).toMatch(new RegExp(`^http\\.curloptResolve=localhost:443:${address}(,${address})*$`));
    expect((await pinRepositoryAddress("https://localhost:8443/a/b"))[1]).toContain("=localhost:8443:");
  });

  it("rejects blocked addresses however they are written, and names that cannot be resolved over https", async () => {
    for (const name of PROXIES) vi.stubEnv(name, undefined);
    for (const url of ["git@169.254.169.254:a/b", "https://[fe80::1]/a", "ssh://git@169.254.169.254/a/b"])
      await expect(pinRepositoryAddress(url)).rejects.toThrow("may not call");
    await expect(pinRepositoryAddress("https://alias.invalid/a/b")).rejects.toThrow("getaddrinfo");
  });

  it.each([
    "https://[::ffff:169.254.169.254%25lo]/a/b",
    "ssh://git@[fe80::1%25eth0]/a/b",
    "https://[fd00:ec2::254%lo]/a/b",
    "not a url",
  ])("rejects %s, which git can read and the check cannot", async (url) => {
    await expect(pinRepositoryAddress(url)).rejects.toThrow("no host that can be checked");
  });

  it.each(["HTTPS_PROXY", "https_proxy"])("leaves names to the proxy of %s, but no addresses", async (name) => {
    for (const other of PROXIES) vi.stubEnv(other, undefined);
    vi.stubEnv(name, "http://proxy.invalid:3128");
    expect(await pinRepositoryAddress("https://alias.invalid/a/b")).toEqual([]);
    await expect(pinRepositoryAddress("https://169.254.169.254/a/b")).rejects.toThrow("may not call");
    const lookup = vi
      .spyOn(process.getBuiltinModule("node:dns"), "lookup")
      .mockImplementation((...given: unknown[]) => {
        const done = given.at(-1);
        if (typeof done === "function") done(null, [{ address: "169.254.169.254", family: 4 }]);
      });
    const pinning = pinRepositoryAddress("ssh://git@alias.invalid/a/b");
    await expect(
      pinning.finally(() => lookup.mockRestore()),
      "ssh has no proxy",
    ).rejects.toThrow("may not call");
  });
});

describe("separateCredential", () => {
  const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$RUNYARD_GIT_USER" "$RUNYARD_GIT_PASSWORD"; }; f`;
  const variables = (url: string, user: string, password: string) => ({
    GIT_CONFIG_COUNT: "5",
    GIT_CONFIG_KEY_0: "credential.useHttpPath",
    GIT_CONFIG_VALUE_0: "true",
    GIT_CONFIG_KEY_1: `credential.${url}.helper`,
    GIT_CONFIG_VALUE_1: "",
    GIT_CONFIG_KEY_2: `credential.${url}.helper`,
    GIT_CONFIG_VALUE_2: helper,
    GIT_CONFIG_KEY_3: `credential.${url}.git/info/lfs.helper`,
    GIT_CONFIG_VALUE_3: "",
    GIT_CONFIG_KEY_4: `credential.${url}.git/info/lfs.helper`,
    GIT_CONFIG_VALUE_4: helper,
    RUNYARD_GIT_USER: user,
    RUNYARD_GIT_PASSWORD: password,
  });
  const clean = "https://git.example/a/b";

  it.each([
    [clean, "token", clean, variables(clean, "x-access-token", "token")],
    [clean, undefined, clean, {}],
    ["https://me:p%40ss@git.example/a/b", undefined, clean, variables(clean, "me", "p@ss")],
    ["https://me@git.example/a/b", undefined, clean, variables(clean, "me", "")],
    ["https://:p%zz@git.example/a/b", undefined, clean, variables(clean, "", "p%zz")],
    ["http://me:pass@git.example/a/b", undefined, "http://me:pass@git.example/a/b", {}],
    ["git@git.example:a/b", undefined, "git@git.example:a/b", {}],
  ])("of %s with the token %s", (url, token, shown, expected) => {
    const { credential, ...access } = separateCredential(url, token);
    expect(access).toEqual({ url: shown, variables: expected });
    const { RUNYARD_GIT_USER: user, RUNYARD_GIT_PASSWORD: password } = access.variables;
    expect(credential).toEqual(user === undefined ? undefined : { user, password });
  });
});

it("findCredentials returns what a URL contains, as written and decoded", () => {
  expect(findCredentials("https://me:p%40ss@git.example/a")).toEqual(["me", "me", "p%40ss", "p@ss"]);
  expect(findCredentials("https://:x@git.example/a")).toEqual(["x", "x"]);
  for (const url of ["https://git.example/a", "ssh://git:pass@git.example/a", "git@git.example:a"])
    expect(findCredentials(url)).toEqual([]);
});

describe("chooseToken", () => {
  const github = "https://github.com/acme/shop";
  const secret = (name: string, value: string) => ({ name, value });

  it.each([
    ["GH_TOKEN before GITHUB_TOKEN", [secret("GITHUB_TOKEN", "b"), secret("GH_TOKEN", "a")], "a"],
    ["trimmed", [secret("GH_TOKEN", " a\n")], "a"],
    ["no text with spaces", [secret("GH_TOKEN", "a b"), secret("GITHUB_TOKEN", "c")], "c"],
    ["no empty one", [secret("GH_TOKEN", " ")], undefined],
    ["none of another name", [secret("OTHER", "a")], undefined],
  ])("takes a secret with a GitHub token: %s", (_, secrets, expected) => {
    expect(chooseToken({ url: github }, { secrets })).toBe(expected);
    expect(chooseToken({ url: github.replace("github.com", "WWW.GitHub.com") }, { secrets })).toBe(expected);
    expect(chooseToken({ url: github.replace("github.com", "github.example") }, { secrets })).toBeUndefined();
  });

  it("takes a created token for its own URL only, on any host", () => {
    const url = "https://git.example/acme/shop";
    const repository_tokens = [{ url, token: "made", expires_at: "2030-01-01T00:00:00Z" }];
    expect(chooseToken({ url }, { repository_tokens })).toBe("made");
    expect(chooseToken({ url: `${url}2` }, { repository_tokens })).toBeUndefined();
  });

  it.each(["", " \n", "two words"])("refuses the named secret %j, which is no token", (value) => {
    const secrets = [secret("NAMED", value), secret("GH_TOKEN", "other")];
    expect(() => chooseToken({ url: github, token_secret: "NAMED" }, { secrets })).toThrow(
      "repository https://github.com/acme/shop: the run has no secret NAMED, or its value is not a token",
    );
  });

  it("refuses a named secret for a URL with a credential, without showing it", () => {
    const named = { url: "https://me:hush@github.com/a/b", token_secret: "NAMED" };
    expect(() => chooseToken(named, { secrets: [secret("NAMED", "x")] })).toThrow(
      "repository https://***@github.com/a/b: token_secret requires an https URL without credentials",
    );
  });
});

describe("assignClonePaths", () => {
  it.each(["output", "attachments", "output/deep", "attachments/deep", ".git", ""])("refuses the path %j", (path) => {
    expect(() => assignClonePaths([{ url: "https://git.example/a/b", path }])).toThrow(
      `repository https://git.example/a/b: the directory "${path}" is taken: give it another path`,
    );
  });
});

it("takeLastLines returns the last five lines with text, 600 bytes at most", () => {
  expect(takeLastLines("1\n2\n\n3\n4\n  \n5\n6\n")).toBe("2 3 4 5 6");
  expect(takeLastLines("x".repeat(700))).toBe("x".repeat(600));
});
