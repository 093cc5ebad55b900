import type { Bundle } from "./bundle.ts";
import type { Settings } from "./settings.ts";

/** The inputs of every stack with functions. */
export interface Platform {
  readonly settings: Settings;
  /** Directories of the functions' code and of the sandboxes' image. */
  readonly bundle: Pick<Bundle, "assetDir" | "imageDir">;
  /** Directory of the web app's files. @default there is none */
  readonly webDir?: string;
}

/** The addresses of this deployment, as functions return them. */
export interface Addresses {
  /** Ends in /api/v1. */
  readonly baseUrl: string;
  /** Where there is a web app. */
  readonly webUrl?: string;
}
