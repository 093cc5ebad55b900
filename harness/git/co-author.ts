import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A person as git names them. */
interface Person {
  readonly name: string;
  readonly email: string;
}

/** The variable that names the person to the hook. */
const VARIABLE = "RUNYARD_CO_AUTHOR";
const HOOK = "prepare-commit-msg";
/** The directory in HOME whose files git copies into each repository that commands make or clone. */
const TEMPLATE = ".git-template";

/** Adds the person to the message of a commit whose author is somebody else. */
const SCRIPT = `#!/bin/sh
[ -n "$${VARIABLE}" ] || exit 0
case "$2" in merge | squash) exit 0 ;; esac
email="<\${${VARIABLE}##*<}"
case "$(git var GIT_AUTHOR_IDENT)" in *"$email"*) exit 0 ;; esac
git interpret-trailers --in-place --if-exists addIfDifferent --trailer "Co-authored-by: $${VARIABLE}" "$1"
`;

/** The variable by which commits of the run's commands name the person who asked for it. */
export function toCoAuthorVariable(person: Person | undefined): Readonly<Record<string, string>> {
  if (person === undefined) return {};
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a trailer is one line, and angle brackets surround the address.
  const clean = (text: string) => text.replace(/[\x00-\x1f<>]+/g, " ").trim();
  return { [VARIABLE]: `${clean(person.name) || clean(person.email)} <${clean(person.email)}>` };
}

/** Lets each repository that commands make or clone have the hook. @param home of the commands */
export function addCommitHookTemplate(home: string): void {
  writeCommitHook(join(home, TEMPLATE));
  appendFileSync(join(home, ".gitconfig"), `[init]\n\ttemplateDir = ~/${TEMPLATE}\n`);
}

/** Writes the hook that adds the person. A repository with hooks of its own in another directory keeps those alone. */
export function writeCommitHook(directory: string): void {
  const hooks = join(directory, "hooks");
  mkdirSync(hooks, { recursive: true });
  const file = join(hooks, HOOK);
  writeFileSync(file, SCRIPT);
  chmodSync(file, 0o755);
}
