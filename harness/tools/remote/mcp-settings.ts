import type { RunContext } from "../../setup/run-context.ts";

export type ServerConfig = NonNullable<RunContext["mcp_servers"]>[string];
export type Values = Readonly<Record<string, string>>;

/** The servers of a run that are not disabled. */
export const listEnabledServers = (servers: RunContext["mcp_servers"]): [name: string, config: ServerConfig][] =>
  Object.entries(servers ?? {}).filter(([, { disabled }]) => disabled !== true);

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}` by the run's secrets and variables, as editors do that use the same
 * configuration.
 * @throws an Error that names what the run does not have. A program's command and arguments keep it, since a shell may know it.
 */
export function expandServer(config: ServerConfig, values: Values): ServerConfig {
  const { command, args, env, url, headers } = config;
  const strictly = (member: string) => (text: string) => expand(text, values, (name) => refuse(member, name));
  const leniently = (text: string) => expand(text, values, (_, reference) => reference);
  return {
    ...config,
    ...(command === undefined ? {} : { command: leniently(command) }),
    ...(args === undefined ? {} : { args: args.map(leniently) }),
    ...(env === undefined ? {} : { env: mapValues(env, (name) => strictly(`env.${name}`)) }),
    ...(url === undefined ? {} : { url: strictly("url")(url) }),
    ...(headers === undefined ? {} : { headers: mapValues(headers, (name) => strictly(`headers.${name}`)) }),
  };
}

/** Whether the configuration of a server lets the agent use one of its tools. */
export const allowsTool = ({ tools: { include, exclude = [] } = {} }: ServerConfig, name: string): boolean =>
  (include === undefined || include.includes(name)) && !exclude.includes(name);

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Lists the names of the secrets and variables that a text refers to. */
export const listReferences = (text: string): string[] => [...text.matchAll(REFERENCE)].map(([, name = ""]) => name);

/** Replaces all references at once, so that a value is not expanded itself. */
const expand = (text: string, values: Values, missing: (name: string, reference: string) => string): string =>
  text.replace(REFERENCE, (reference, name: string, fallback: string | undefined) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : (fallback ?? missing(name, reference)),
  );

function refuse(member: string, name: string): never {
  throw new Error(`${member} names ${name}, which is neither a secret nor a variable of this run`);
}

const mapValues = (values: Values, map: (name: string) => (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, map(name)(text)]));
