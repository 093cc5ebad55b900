import path from "node:path";
import * as v from "valibot";
import { GithubAppFile } from "#shared/wire/github/app-file.ts";
import { KeyFileError, readOwnerOnly } from "./key-file.ts";

/** The name of the file in the data directory. */
export const GITHUB_APP_FILE = "github-app.json";

/**
 * Reads the GitHub App of the installation from a file that only the owner can read; undefined where there is none.
 * @throws KeyFileError if other users have access to the file, or it is not as `runyard github setup` writes it
 */
export function readGithubApp(directory: string): GithubAppFile | undefined {
  const file = path.join(directory, GITHUB_APP_FILE);
  const content = readOwnerOnly(file);
  if (content === undefined) return undefined;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), GithubAppFile), content.toString("utf8"));
  if (parsed.success) return parsed.output;
  throw new KeyFileError(`${file} is not a file of \`runyard github setup\`. Write it again, or delete it.`);
}
