import {
  type ImageReference,
  type ImageRegistry,
  parseImageReference,
} from "#shared/wire/providers/registry-settings.ts";
import { formatError, SetupError } from "../support/stop.ts";
import type { ProgramLimits } from "./confined-program.ts";
import type { ImageSettings } from "./image-settings.ts";
import { type ImageStore, openImageStore, type StoredImage } from "./image-store.ts";
import { connectRegistry } from "./pull-image.ts";
import { findCredentials } from "./registry-credentials.ts";

/** An image that is on this machine for a run. */
export interface OpenedImage extends StoredImage {
  /** The host path of its files, which nobody changes. */
  readonly root: string;
  /** What the timeline says about it. */
  readonly detail: string;
}

export interface OpenImageOptions {
  readonly settings: ImageSettings;
  readonly runId: string;
  /** The run's secret with credentials for registries, which count before those of the operator. @default none */
  readonly secret?: string | undefined;
  /** Called with a password of that secret. */
  readonly redact?: (value: string) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How often an execution says that it still uses its image. */
const TOUCH_MS = 10 * 60_000;
/** What registries say where access is refused, or the image is not there; without an answer, a copy on this machine may be used. */
const REFUSED =
  /unauthorized|authentication required|denied|forbidden|manifest unknown|name unknown|name not known|status code from registry 40[0-8]/i;

/**
 * Finds the image of a reference, and pulls it if it is not on this machine. Every run proves that it may read the image by asking the
 * registry, whose answer counts for some minutes. A later execution of a run has the image of the first one.
 * @throws SetupError that says what to fix
 */
export async function openImage(reference: string, options: OpenImageOptions): Promise<OpenedImage> {
  const { settings, signal, runId } = options;
  const store = await openImageStore(settings.directory);
  const parsed = parseImageReference(reference);
  const registry = findRegistry(parsed.host, reference, options);
  const access = JSON.stringify([reference, registry?.username, registry?.password]);
  const pin = await store.readResolution(`run ${runId}`);
  try {
    await using _ = await store.lock(access, signal);
    const found = await findImage({ store, parsed, registry, access, pin: pin?.digest }, options);
    await store.writeResolution(`run ${runId}`, { digest: found.digest, checked_at: Date.now() });
    const keep = setInterval(() => void store.touch(found.digest).catch(() => undefined), TOUCH_MS).unref();
    signal.addEventListener("abort", () => clearInterval(keep));
    return { ...found, root: store.root(found.digest), detail: `image ${reference} @ ${found.digest}, ${found.how}` };
  } catch (error) {
    signal.throwIfAborted();
    throw new SetupError(`docker_image ${reference} could not be used: ${formatError(error)}`);
  }
}

/** The registry as the operator has configured it, with the credentials of the run if it has some. @throws SetupError */
function findRegistry(
  host: string,
  reference: string,
  { settings, secret, redact = () => {} }: OpenImageOptions,
): ImageRegistry | undefined {
  const configured = settings.registries.find((registry) => registry.host === host);
  if (secret === undefined) return configured;
  try {
    const credentials = findCredentials(secret, host);
    if (credentials === undefined) return configured;
    redact(credentials.password);
    return { host, ...configured, ...credentials };
  } catch (error) {
    throw new SetupError(`docker_image ${reference} could not be used: ${formatError(error)}`);
  }
}

interface Search {
  readonly store: ImageStore;
  readonly parsed: ImageReference;
  readonly registry: ImageRegistry | undefined;
  /** Identifies the reference and the credentials. */
  readonly access: string;
  /** The digest of an earlier execution of the run. */
  readonly pin: string | undefined;
}

type FoundImage = StoredImage & { readonly how: string };

async function findImage(
  { store, parsed, registry, access, pin }: Search,
  options: OpenImageOptions,
): Promise<FoundImage> {
  const { settings, timeoutMs, signal } = options;
  const limits: ProgramLimits = { ...settings.limits, timeoutMs, signal };
  const known = await store.readResolution(access);
  if (known !== undefined && Date.now() - known.checked_at < settings.checkMs) {
    const image = await store.find(pin ?? known.digest);
    if (image !== undefined) return { ...image, how: `on this machine since ${image.pulled_at}` };
  }
  await using connection = await connectRegistry(parsed, registry, limits);
  const answer = await connection.resolve().catch((error: unknown) => ({ error: formatError(error) }));
  signal.throwIfAborted();
  if (typeof answer !== "string") {
    const isRefused = REFUSED.test(answer.error);
    // Earlier answers do not count any longer, even if the registry does not answer next time.
    if (isRefused) await store.removeResolution(access);
    const existing = known === undefined || isRefused ? undefined : await store.find(pin ?? known.digest);
    if (existing === undefined) throw new Error(answer.error);
    return {
      ...existing,
      how: `on this machine since ${existing.pulled_at}; its registry did not answer: ${answer.error}`,
    };
  }
  await store.writeResolution(access, { digest: answer, checked_at: Date.now() });
  const digest = pin ?? answer;
  // Another reference may name the same image, whose files must not be replaced while commands use them.
  await using _ = await store.lock(digest, signal);
  const existing = await store.find(digest);
  if (existing !== undefined) return { ...existing, how: `on this machine since ${existing.pulled_at}` };
  const start = Date.now();
  const image = await store.add(digest, (directory) => connection.pull(digest, directory));
  const seconds = Math.max(1, Math.round((Date.now() - start) / 1000));
  return { ...image, how: `pulled ${Math.max(1, Math.round(image.pulled_bytes / 1_000_000))} MB in ${seconds} s` };
}
