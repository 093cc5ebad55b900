import * as v from "valibot";

const MAX_DOMAINS = 100;

/** Names of lists of domains, which stand for their domains: see `docs/sandboxes.md`. */
const NETWORK_PRESETS = ["packages", "repository"] as const;

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
// The last label has a letter first, so that no address is a name.
const TOP = "[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const DOMAIN = new RegExp(`^(?:(?:${LABEL}\\.)+${TOP}|\\*\\.(?:${LABEL}\\.)+${TOP}|${NETWORK_PRESETS.join("|")})$`);

/** A domain that commands may call; `*.` in front stands for all names below it. */
const NetworkDomain = v.pipe(
  v.string(),
  v.maxLength(255),
  v.regex(
    DOMAIN,
    "must be a domain such as pypi.org, a wildcard such as *.example.com, or one of the presets packages and repository: without scheme, port or path, no IP address, and other scripts as xn--",
  ),
);

/** What commands of an environment may call: everything, the domains of a list, or nothing. */
export const Network = v.pipe(
  v.object({
    /** `open` (everything), `allowlist` (the `domains`) or `none`. */
    mode: v.picklist(["open", "allowlist", "none"]),
    /** The domains of the mode `allowlist`: names, `*.` with a name, and the presets `packages` and `repository`. */
    domains: v.exactOptional(v.pipe(v.array(NetworkDomain), v.maxLength(MAX_DOMAINS))),
  }),
  v.forward(
    v.check(
      ({ mode, domains = [] }) => mode !== "allowlist" || domains.length > 0,
      "must name at least one domain or preset; for no network, set network.mode to none",
    ),
    ["domains"],
  ),
  v.forward(
    v.check(
      ({ mode, domains = [] }) => mode === "allowlist" || domains.length === 0,
      "have an effect with the mode allowlist only: set network.mode to allowlist, or leave domains out",
    ),
    ["domains"],
  ),
);
