import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { DEFAULT_REGISTRY, type ImageReference, type ImageRegistry } from "#shared/wire/providers/registry-settings.ts";
import { createAddressCheck, resolveAllowed } from "../network/blocked-addresses.ts";
import { splitHost } from "../network/forward-request.ts";
import { createHash } from "../support/lazy-crypto.ts";
import { type ProgramLimits, runConfined } from "./confined-program.ts";
import { isDirectory, type StoredImage } from "./image-store.ts";
import { openRegistryNetwork, type RegistryNetwork } from "./registry-network.ts";

/** A connection to the registry of one image. */
export interface Registry {
  /** Asks for the digest of the reference. */
  resolve(): Promise<string>;
  /** Pulls the image with this digest, and unpacks it below a directory. */
  pull(digest: string, directory: string): Promise<StoredImage>;
  [Symbol.asyncDispose](): Promise<void>;
}

const INSPECT_MS = 60_000;
const AUTH_FILE = "/run/auth.json";
const KEY_OF_DEFAULT = "https://index.docker.io/v1/";

/**
 * Connects to a registry by skopeo, in a sandbox that has the credentials of this registry, and none of the run.
 * @param registry as the operator configured it. @default a public one, without credentials
 */
export async function connectRegistry(
  reference: ImageReference,
  registry: ImageRegistry | undefined,
  limits: ProgramLimits,
): Promise<Registry> {
  const scratch = await mkdtemp(join(tmpdir(), "runyard-image-"));
  const close = async (network?: RegistryNetwork) => {
    await network?.close();
    await removeTree(scratch);
  };
  try {
    const auth = await writeCredentials(scratch, reference.host, registry);
    const network = await openRegistryNetwork(reference.host, registry);
    const verify = registry?.insecure === true ? "=false" : "=true";
    const place = {
      enter: network.enter,
      variables: network.variables,
      files: auth === undefined ? {} : { [AUTH_FILE]: auth },
    };
    const option = (name: string) => (auth === undefined ? [] : [`--${name}`, AUTH_FILE]);
    const { repository, tag = "latest", digest } = reference;
    return {
      async resolve() {
        await checkAddress(reference.host, registry);
        const empty = join(scratch, "empty");
        await mkdir(empty, { recursive: true });
        const source = `docker://${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`;
        const inspect = ["inspect", "--raw", ...option("authfile"), `--tls-verify${verify}`, source];
        const { output } = await runConfined(
          { ...place, directory: empty, command: ["skopeo", "--insecure-policy", ...inspect] },
          { ...limits, timeoutMs: Math.min(INSPECT_MS, limits.timeoutMs) },
        );
        return `sha256:${createHash("sha256").update(output).digest("hex")}`;
      },
      async pull(wanted, directory) {
        const work = join(directory, "work");
        await mkdir(join(work, "tmp"), { recursive: true });
        const copy = ["copy", ...option("src-authfile"), `--src-tls-verify${verify}`];
        const ends = [`docker://${repository}@${wanted}`, "oci:/image/layout:image"];
        const skopeo = ["skopeo", "--insecure-policy", "--tmpdir", "/image/tmp", ...copy, ...ends] as const;
        const pulled = await runConfined({ ...place, directory: work, command: [...skopeo] }, limits);
        return { ...(await unpackImage(directory, limits)), digest: wanted, pulled_bytes: pulled.bytes };
      },
      [Symbol.asyncDispose]: () => close(network),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where images without a host are. */
const DEFAULT_HOST = "registry-1.docker.io";

/** Checks where a registry is. The proxy does it again, for this host and all others. @throws an Error that says what to do */
async function checkAddress(host: string, registry: ImageRegistry | undefined): Promise<void> {
  const { host: name } = splitHost(host === DEFAULT_REGISTRY ? DEFAULT_HOST : host);
  const isPrivate = registry?.private === true;
  const isAllowed = createAddressCheck({ loopback: isPrivate, privateNetworks: isPrivate });
  await resolveAllowed(name.replace(/^\[(.*)\]$/, "$1"), isAllowed).catch((error: unknown) => {
    if (error instanceof Error && "code" in error)
      throw new Error(`the address of ${name} was not found (${String(error.code)})`);
    throw new Error(
      `access to ${host} is denied, since its address is not on the internet: the operator can list it in runyard.json with "private": true`,
    );
  });
}

/** Writes the credentials for the registry, if there are any, to a file for skopeo. */
async function writeCredentials(
  scratch: string,
  host: string,
  registry: ImageRegistry | undefined,
): Promise<string | undefined> {
  const { username, password } = registry ?? {};
  if (username === undefined || password === undefined) return undefined;
  const file = join(scratch, "auth.json");
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const key = host === DEFAULT_REGISTRY ? KEY_OF_DEFAULT : host;
  await writeFile(file, JSON.stringify({ auths: { [key]: { auth }, [host]: { auth } } }), { mode: 0o600 });
  return file;
}

/** The configuration of an image, of which only these members have an effect. */
const Configuration = v.object({
  architecture: v.optional(v.string(), ""),
  os: v.optional(v.string(), "linux"),
  config: v.nullish(
    v.object({
      Env: v.nullish(v.pipe(v.array(v.pipe(v.string(), v.maxLength(131_072))), v.maxLength(1_000))),
      WorkingDir: v.nullish(v.pipe(v.string(), v.maxLength(4_096))),
    }),
  ),
});

/** How images name the architecture of this machine. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", arm: "arm" };

/**
 * Unpacks the layout in `work` below a directory to `rootfs` there. What unpacks it sees only the directory `work`, so that no name or link
 * in a layer leads out of it.
 */
async function unpackImage(
  directory: string,
  limits: ProgramLimits,
): Promise<Omit<StoredImage, "digest" | "pulled_bytes">> {
  const work = join(directory, "work");
  const inWork = (command: readonly [string, ...string[]]) => runConfined({ directory: work, command }, limits);
  const { output } = await inWork(["skopeo", "inspect", "--config", "--raw", "oci:/image/layout:image"]);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Configuration), output.toString());
  if (!parsed.success) throw new Error(`its configuration is not valid: ${parsed.issues[0].message}`);
  const { architecture, os, config } = parsed.output;
  const own = ARCHITECTURES[process.arch] ?? process.arch;
  if (os !== "linux" || (architecture !== "" && architecture !== own))
    throw new Error(`it is made for ${os}/${architecture}, and this machine is linux/${own}`);
  await inWork(["umoci", "raw", "unpack", "--rootless", "--image", "/image/layout:image", "/image/rootfs"]);
  await inWork(["/bin/bash", "-c", PREPARE]);
  await removeTree(join(work, "layout"));
  const { bytes, files } = await inWork(["true"]);
  const root = join(directory, "rootfs");
  await rename(join(work, "rootfs"), root);
  await removeTree(work);
  if (!(await isDirectory(root))) throw new Error("it has no root directory");
  const workingDirectory = config?.WorkingDir ?? "";
  return {
    env: (config?.Env ?? []).filter((variable) => /^[^=\0]+=[^\0]*$/.test(variable)),
    ...(/^\/[^\0]+$/.test(workingDirectory) ? { working_directory: workingDirectory } : {}),
    bytes,
    files,
    pulled_at: new Date().toISOString(),
  };
}

/**
 * Replaces what commands see other things at: these are directories and files from now on, so that no link of the image decides where
 * bubblewrap mounts something. Its root owns all files, and has no power over permissions.
 */
const PREPARE = `set -e
cd /image/rootfs
chmod u+rwx .
directory() {
  if [ -L "$1" ] || [ ! -d "$1" ]; then rm -rf -- "$1"; mkdir -- "$1"; fi
  chmod u+rwx -- "$1"
}
for name in dev proc sys tmp etc run run/runyard home home/agent workspace; do directory "$name"; done
for name in passwd group hosts nsswitch.conf resolv.conf; do
  if [ -L "etc/$name" ] || [ ! -f "etc/$name" ]; then rm -rf -- "etc/$name"; : > "etc/$name"; fi
done
# A directory that hides its files is changed before find reads it.
find . -type d ! -perm -500 -exec chmod u+rwx -- {} \\; -o \\
  \\( -type d ! -perm -700 -o -type f ! -perm -600 \\) -exec chmod u+rwX -- {} +
`;
