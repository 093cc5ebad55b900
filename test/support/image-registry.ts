import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { startServer } from "./http-server.ts";

/** A file of a layer, as an archive describes it. Nothing is checked, so that it can be hostile. */
export interface LayerFile {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
  /** The kind of tar. @default a file, or a directory if the name ends in a slash */
  readonly kind?: "hard link" | "link" | "character device" | "block device" | "pipe";
  /** Where a link leads. */
  readonly target?: string;
}

export interface ImageOptions {
  readonly layers: readonly (readonly LayerFile[] | Buffer)[];
  readonly config?: { readonly Env?: readonly string[]; readonly WorkingDir?: string };
  readonly architecture?: string;
  /** Whether the reference names a list of images for several platforms. @default false */
  readonly isList?: boolean;
}

export interface Registry extends AsyncDisposable {
  /** The host and the port, as references name them. */
  readonly host: string;
  /** The requests so far. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[];
  /** Puts an image at `name:tag`. Returns the digest of its manifest. */
  put(reference: string, image: ImageOptions): string;
  /** Sets what responds to all further requests instead of the registry; undefined for the registry again. */
  respond(override: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
}

const KINDS = { "hard link": "1", link: "2", "character device": "3", "block device": "4", pipe: "6" } as const;
const BLOCK = 512;

/** Writes an archive of the files. */
function writeTar(files: readonly LayerFile[]): Buffer {
  const parts = files.flatMap(({ name, content = "", mode, kind, target = "" }) => {
    const body = Buffer.from(content);
    const type = kind !== undefined ? KINDS[kind] : name.endsWith("/") ? "5" : "0";
    const header = Buffer.alloc(BLOCK);
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
    header.write(name, 0, 100);
    header.write(octal(mode ?? (type === "5" ? 0o755 : 0o644), 8), 100);
    for (const at of [108, 116]) header.write(octal(0, 8), at);
    header.write(octal(body.length, 12), 124);
    header.write(octal(1_700_000_000, 12), 136);
    header.write("        ", 148);
    header.write(type, 156);
    header.write(target, 157, 100);
    header.write("ustar\0" + "00", 257);
    header.write(octal(1, 8), 329);
    header.write(octal(3, 8), 337);
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      ),
      148,
    );
    return [header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64" };
const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Starts a registry of images on the loopback, by http. @param credentials that requests need. @default none */
export async function startRegistry(credentials?: {
  readonly username: string;
  readonly password: string;
}): Promise<Registry> {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, Buffer>();
  const requests: Registry["requests"] = [];
  let override: Parameters<Registry["respond"]>[0];
  const authorized =
    credentials === undefined
      ? undefined
      : `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
  const server = await startServer((request, response) => {
    const path = request.url ?? "";
    const { authorization } = request.headers;
    requests.push({ path, authorization });
    if (override !== undefined) return void override(request, response);
    if (authorized !== undefined && authorization !== authorized) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="images"' }).end();
      return;
    }
    if (path === "/v2/") return void response.end("{}");
    const [, name = "", kind = "", reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const manifest = kind === "manifests" ? manifests.get(`${name}:${reference}`) : undefined;
    const found = manifest ?? blobs.get(reference);
    if (found === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ errors: [{ code: "MANIFEST_UNKNOWN", message: "manifest unknown" }] }));
      return;
    }
    const isList = kind === "manifests" && found.includes(INDEX);
    const type = isList ? INDEX : kind === "manifests" ? MANIFEST : "application/octet-stream";
    response.writeHead(200, {
      "content-type": type,
      "content-length": found.length,
      "docker-content-digest": digestOf(found),
    });
    response.end(request.method === "HEAD" ? undefined : found);
  });
  const store = (bytes: Buffer) => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return { digest, size: bytes.length };
  };
  return {
    host: new URL(server.url).host,
    requests,
    put(
      reference,
      { layers, config = {}, architecture = ARCHITECTURES[process.arch] ?? process.arch, isList = false },
    ) {
      const tars = layers.map((layer) => (Buffer.isBuffer(layer) ? layer : writeTar(layer)));
      const packed = tars.map((tar) => ({ mediaType: LAYER, ...store(gzipSync(tar, { level: 1 })) }));
      const rootfs = { type: "layers", diff_ids: tars.map(digestOf) };
      const configuration = store(Buffer.from(JSON.stringify({ architecture, os: "linux", config, rootfs })));
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: MANIFEST,
          config: { mediaType: CONFIG, ...configuration },
          layers: packed,
        }),
      );
      const stored = store(manifest);
      const list = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: INDEX,
          manifests: ["s390x", architecture].map((name) => ({
            ...{ mediaType: MANIFEST, ...stored, platform: { os: "linux", architecture: name } },
            ...(name === architecture ? {} : { digest: `sha256:${"0".repeat(64)}` }),
          })),
        }),
      );
      manifests.set(reference, isList ? list : manifest);
      return isList ? store(list).digest : stored.digest;
    },
    respond: (next) => {
      override = next;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
