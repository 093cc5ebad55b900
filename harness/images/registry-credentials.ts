import * as v from "valibot";
import { DEFAULT_REGISTRY } from "#shared/wire/providers/registry-settings.ts";

/** The secret with credentials for registries, in the format of Docker's config.json, as other services name it. */
export const CREDENTIALS_SECRET = "DOCKER_AUTH_CONFIG";

interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** https://github.com/docker/cli/blob/master/cli/config/types/authconfig.go; other members have no effect. */
const DockerConfig = v.object({
  auths: v.record(
    v.string(),
    v.object({
      /** The user name and the password, separated by a colon, in base64. */
      auth: v.exactOptional(v.string()),
      username: v.exactOptional(v.string()),
      password: v.exactOptional(v.string()),
    }),
  ),
});

/**
 * Finds the credentials for a registry; undefined if the secret has none for it.
 * @param host as references of images name it
 * @throws an Error that says what to fix, without the value
 */
export function findCredentials(secret: string, host: string): RegistryCredentials | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), DockerConfig), secret);
  if (!parsed.success)
    throw new Error(
      `the secret ${CREDENTIALS_SECRET} must be JSON such as {"auths": {"ghcr.io": {"username": "acme", "password": "…"}}}`,
    );
  const [, found] = Object.entries(parsed.output.auths).find(([key]) => toHost(key) === host) ?? [];
  if (found === undefined) return undefined;
  const [, ofAuth, rest] = /^([^:]*):([\s\S]*)$/.exec(Buffer.from(found.auth ?? "", "base64").toString()) ?? [];
  const { username = ofAuth, password = rest } = found;
  if (!username || !password)
    throw new Error(`the secret ${CREDENTIALS_SECRET} has no username and password, and no auth, for ${host}`);
  return { username, password };
}

/** Keys are hosts, or addresses of the registries' API: Docker's own has only the latter. */
function toHost(key: string): string {
  const host = key
    .replace(/^https?:\/\//, "")
    .replace(/\/.*$/, "")
    .toLowerCase();
  return host === "index.docker.io" || host === "registry-1.docker.io" ? DEFAULT_REGISTRY : host;
}
