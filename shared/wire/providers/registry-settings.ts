import * as v from "valibot";

const Text = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty"));

/** The registry of a reference without a host. */
export const DEFAULT_REGISTRY = "docker.io";

const members = {
  /** The host as image references name it, with the port if they have one. */
  host: v.pipe(
    v.string(),
    v.regex(
      /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/,
      "must be a host as references of images name it, such as ghcr.io or 127.0.0.1:5000",
    ),
  ),
  username: v.exactOptional(Text),
  /** Whether its address may be one of this machine or of its network. @default false */
  private: v.exactOptional(v.boolean()),
  /** Whether to allow HTTP, and certificates that no trusted authority has signed. @default false */
  insecure: v.exactOptional(v.boolean()),
};

/** A registry in the file of a single machine. */
export const FileRegistry = v.strictObject({
  ...members,
  password: v.exactOptional(v.union([Text, v.strictObject({ env: Text }), v.strictObject({ file: Text })])),
});
export type FileRegistry = v.InferOutput<typeof FileRegistry>;

/** A registry with its password, as executions on the machine get it. */
const ImageRegistry = v.object({ ...members, password: v.exactOptional(v.string()) });
export type ImageRegistry = v.InferOutput<typeof ImageRegistry>;
export const ImageRegistries = v.array(ImageRegistry);

/** The parts of the reference of an image. */
export interface ImageReference {
  /** The registry's host, with the port if it has one. */
  readonly host: string;
  /** The reference without its tag and digest. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Parses a reference, such as the `docker_image` of an environment. */
export function parseImageReference(reference: string): ImageReference {
  const [, name = "", tag, digest] = /^(.*?)(?::([\w][\w.-]*))?(?:@([^@]+))?$/.exec(reference) ?? [];
  const [first = "", ...rest] = name.split("/");
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  return {
    host: hasHost ? first.toLowerCase() : DEFAULT_REGISTRY,
    repository: name,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}
