import type { Repository } from "#shared/wire/config.ts";

/** The ports that every allowed host may be called at. */
export const WEB_PORTS = [80, 443];

/** The registries of the usual package managers, and where their packages are. The documentation lists them. */
export const PACKAGE_DOMAINS = [
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  "nodejs.org",
  "pypi.org",
  "files.pythonhosted.org",
  "crates.io",
  "index.crates.io",
  "static.crates.io",
  "static.rust-lang.org",
  "proxy.golang.org",
  "sum.golang.org",
  "rubygems.org",
  "index.rubygems.org",
  "repo.maven.apache.org",
  "repo1.maven.org",
  "plugins.gradle.org",
  "services.gradle.org",
  "repo.packagist.org",
  "api.nuget.org",
  "deb.debian.org",
  "security.debian.org",
  "archive.ubuntu.com",
  "security.ubuntu.com",
] as const;

/** Where GitHub serves what belongs to a repository on github.com. */
export const GITHUB_DOMAINS = [
  "github.com",
  "api.github.com",
  "codeload.github.com",
  "raw.githubusercontent.com",
  "objects.githubusercontent.com",
  "media.githubusercontent.com",
  "github-cloud.githubusercontent.com",
  "github-cloud.s3.amazonaws.com",
] as const;

/** The hosts that an allowlist contains. */
export interface AllowedDomains {
  /** @param port undefined if the caller does not know it yet, or chose it in the configuration of the run */
  includes(host: string, port?: number): boolean;
  /** For an agent, which has to know them. */
  readonly names: readonly string[];
}

/** @param domains as `network.domains` of an environment names them */
export function createAllowedDomains(domains: readonly string[], repositories: readonly Repository[]): AllowedDomains {
  const places = repositories.flatMap(({ url }) => findPlace(url));
  const names = new Set(
    [
      ...domains.filter((domain) => domain !== "packages" && domain !== "repository"),
      ...(domains.includes("packages") ? PACKAGE_DOMAINS : []),
      ...(domains.includes("repository") ? places : []).flatMap(({ host }) =>
        host === "github.com" ? GITHUB_DOMAINS : [host],
      ),
    ].map((name) => name.toLowerCase()),
  );
  const isNamed = (host: string) => names.has(host) || listParents(host).some((parent) => names.has(`*.${parent}`));
  return {
    includes(host, port) {
      const isOpen = port === undefined || WEB_PORTS.includes(port);
      return isNamed(host) && (isOpen || places.some((place) => place.host === host && place.port === port));
    },
    names: [...names],
  };
}

/** The domains above a host: for `a.b.example`, `b.example` and `example`. */
const listParents = (host: string): string[] =>
  host.split(".").map((_, index, labels) => labels.slice(index + 1).join("."));

/** The host of a repository's URL and the port that git calls by https; a file has none. */
function findPlace(url: string): { host: string; port: number }[] {
  const parsed = URL.parse(url);
  const host = toHostName(parsed?.hostname ?? /^[\w.-]+@([\w.-]+):/.exec(url)?.[1] ?? "");
  if (host === undefined) return [];
  return [{ host, port: parsed?.protocol === "https:" ? Number(parsed.port || 443) : 443 }];
}

/** Normalizes a name or an address, as clients write it; undefined if it is neither. */
export function toHostName(text: string): string | undefined {
  const host = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^(?=.*:)[0-9a-f:.]{2,45}$/.test(host) ? host : undefined;
}
