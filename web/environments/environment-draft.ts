import * as v from "valibot";
import { APIError, type CreateEnvironmentRequest, type EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { errorAt } from "../api/problem.ts";

/** A row of a form. The id tells rows apart when others are removed. */
export interface Row {
  readonly id: number;
}

export interface RepositoryRow extends Row {
  readonly url: string;
  readonly ref: string;
  readonly path: string;
  readonly token_secret: string;
  readonly depth: string;
  /** Directories, separated by commas. */
  readonly sparse_paths: string;
  readonly submodules: boolean;
  readonly lfs: boolean;
}

export interface CommandRow extends Row {
  readonly text: string;
}

export const NetworkMode = v.picklist(["open", "allowlist", "none"]);
export type NetworkMode = v.InferOutput<typeof NetworkMode>;

/** What the form of an environment holds. Empty text means that the member is not set. */
export interface EnvironmentDraft {
  readonly name: string;
  readonly description: string;
  readonly image: string;
  readonly worker: string;
  /** A name in each line. */
  readonly secrets: string;
  /** A line `NAME=value` for each variable. */
  readonly variables: string;
  readonly network: NetworkMode;
  /** A domain or preset in each line. */
  readonly domains: string;
  readonly repositories: readonly RepositoryRow[];
  readonly commands: readonly CommandRow[];
  readonly isPersonal: boolean;
}

/** What each part of the form shows and changes. */
export interface PartProps {
  readonly draft: EnvironmentDraft;
  readonly error: unknown;
  readonly change: (changes: Partial<EnvironmentDraft>) => void;
}

let lastId = 0;
const nextId = (): number => ++lastId;
const BLANK = {
  url: "",
  ref: "",
  path: "",
  token_secret: "",
  depth: "",
  sparse_paths: "",
  submodules: false,
  lfs: false,
};
export const blankRepository = (): RepositoryRow => ({ id: nextId(), ...BLANK });
export const blankCommand = (): CommandRow => ({ id: nextId(), text: "" });

export function toDraft(config?: EnvironmentItem["config"]): EnvironmentDraft {
  return {
    name: config?.name ?? "",
    description: config?.description ?? "",
    image: config?.docker_image ?? "",
    worker: config?.worker_host ?? "",
    secrets: (config?.secrets ?? []).map(({ name }) => name).join("\n"),
    variables: Object.entries(config?.variables ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
    network: config?.network?.mode ?? "open",
    domains: (config?.network?.domains ?? []).join("\n"),
    repositories: (config?.repositories ?? []).map(({ depth, sparse_paths, ...repository }) => ({
      ...blankRepository(),
      ...repository,
      depth: depth === undefined ? "" : String(depth),
      sparse_paths: (sparse_paths ?? []).join(", "),
    })),
    commands: (config?.setup_commands ?? []).map((text) => ({ ...blankCommand(), text })),
    isPersonal: false,
  };
}

/** The draft without the rows in which nothing is written, so that the service counts rows as the form does. */
export const withoutBlankRows = (draft: EnvironmentDraft): EnvironmentDraft => ({
  ...draft,
  repositories: draft.repositories.filter(({ id: _, ...members }) =>
    Object.values(members).some((member) => (typeof member === "string" ? member.trim() !== "" : member)),
  ),
  commands: draft.commands.filter(({ text }) => text.trim() !== ""),
});

/** The lines of a text in which something is written. */
const listLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A line without `=` is a variable without a value. */
const toVariables = ({ variables }: EnvironmentDraft): Record<string, string> =>
  Object.fromEntries(
    listLines(variables).map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name.trim(), value.join("=")];
    }),
  );

const toNetwork = ({ network, domains }: EnvironmentDraft) =>
  network === "allowlist" ? { mode: network, domains: listLines(domains) } : { mode: network };

/** The content of an environment. In a change, an empty value clears what was set. */
export const toRequest = (draft: EnvironmentDraft): CreateEnvironmentRequest => ({
  name: draft.name.trim(),
  description: draft.description.trim(),
  docker_image: draft.image.trim(),
  worker_host: draft.worker.trim(),
  repositories: draft.repositories.map(toRepository),
  setup_commands: draft.commands.map(({ text }) => text),
  secrets: listLines(draft.secrets).map((name) => ({ name })),
  variables: toVariables(draft),
  network: toNetwork(draft),
});

function toRepository({ id: _, url, depth, sparse_paths, submodules, lfs, ...texts }: RepositoryRow) {
  const optional = Object.entries(texts)
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== "");
  const paths = sparse_paths.split(",").map((path) => path.trim());
  return {
    url: url.trim(),
    ...Object.fromEntries(optional),
    // The service names what is not a number.
    ...(depth.trim() === "" ? {} : { depth: Number(depth) }),
    ...(sparse_paths.trim() === "" ? {} : { sparse_paths: paths }),
    ...(submodules ? { submodules } : {}),
    ...(lfs ? { lfs } : {}),
  };
}

/** The message for a list that is written in lines, with the line that was refused. */
export function lineError(error: unknown, path: string, text: string): string | undefined {
  if (!(error instanceof APIError)) return undefined;
  const refused = error.errors.find((one) => one.path.startsWith(`${path}[`));
  if (refused === undefined) return errorAt(error, path);
  const index = Number(/^\d+/.exec(refused.path.slice(path.length + 1))?.[0]);
  return `${listLines(text)[index] ?? "A line"} ${refused.message}`;
}
