import * as v from "valibot";
import { ImageRegistries, type ImageRegistry } from "#shared/wire/providers/registry-settings.ts";

/** How images are kept and pulled on this machine. */
export interface ImageSettings {
  /** Where images are kept. */
  readonly directory: string;
  /** The registries that the operator has configured. */
  readonly registries: readonly ImageRegistry[];
  /** How long the digest of a tag is not asked for again. */
  readonly checkMs: number;
  /** The most that an image may have, packed and unpacked. */
  readonly limits: { readonly bytes: number; readonly files: number };
}

const MAX_BYTES = 10 * 1024 * 1024 * 1024;
const MAX_FILES = 1_000_000;
const CHECK_MINUTES = 10;
const MIB = 1024 * 1024;

/** Reads the settings that the program passes on that starts harnesses; undefined where it keeps no images. */
export function readImageSettings(
  settings: Readonly<Record<string, string | undefined>> = process.env,
): ImageSettings | undefined {
  const directory = settings["RUNYARD_IMAGES"];
  if (directory === undefined || directory === "") return undefined;
  const set = (name: string, preset: number) => {
    const value = settings[name];
    if (value === undefined || value === "") return preset;
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    throw new Error(`${name} must be a whole number above 0`);
  };
  return {
    directory,
    registries: v.parse(v.pipe(v.string(), v.parseJson(), ImageRegistries), settings["RUNYARD_REGISTRIES"] ?? "[]"),
    checkMs: set("RUNYARD_IMAGE_CHECK_MINUTES", CHECK_MINUTES) * 60_000,
    limits: { bytes: set("RUNYARD_IMAGE_MIB", MAX_BYTES / MIB) * MIB, files: MAX_FILES },
  };
}
