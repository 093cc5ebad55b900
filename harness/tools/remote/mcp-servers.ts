import { formatError } from "../../support/stop.ts";
import { type ConnectOptions, connect, type McpConnection } from "./mcp-connection.ts";
import { listEnabledServers, type ServerConfig } from "./mcp-settings.ts";

/** An MCP server of the run's configuration, connected or not. */
export type McpServer =
  | { readonly name: string; readonly connection: McpConnection }
  /** Why it cannot be used. */
  | { readonly name: string; readonly unavailable: string };

export interface ServersOptions extends ConnectOptions {
  /** Reports a connection attempt and its duration in the timeline. */
  readonly timed: <T>(detail: (result: T) => string, work: () => Promise<T>) => Promise<T>;
}

/** Connects all servers that are not disabled in parallel. If one cannot be used, the run continues and its agent is informed. */
export async function connectServers(
  servers: Readonly<Record<string, ServerConfig>>,
  options: ServersOptions,
): Promise<McpServer[]> {
  const connecting = listEnabledServers(servers).map(async ([name, config]): Promise<McpServer> => {
    try {
      const connection = await options.timed(
        ({ tools }) => `${name}: ${tools.length === 1 ? "1 tool" : `${tools.length} tools`}`,
        async () => {
          try {
            return await connect(config, options);
          } catch (error) {
            options.signal.throwIfAborted();
            throw new Error(`${name}: ${formatError(error)}`);
          }
        },
      );
      return { name, connection };
    } catch (error) {
      options.signal.throwIfAborted();
      return { name, unavailable: formatError(error).slice(name.length + 2) };
    }
  });
  const ended = await Promise.allSettled(connecting);
  return ended.map((server) => {
    if (server.status === "rejected") throw server.reason;
    return server.value;
  });
}

/** Closes the connections and ends the servers that were started. */
export async function closeServers(servers: readonly McpServer[]): Promise<void> {
  await Promise.allSettled(servers.map((server) => ("connection" in server ? server.connection.close() : undefined)));
}
