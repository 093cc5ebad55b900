import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Route, routes } from "#infra/routes.ts";
import type { ErrorCode } from "#shared/errors.ts";
import type { Parameters } from "#shared/http/request.ts";
import { root } from "../run-command.ts";
import { type EndpointText, findEndpoint, readEndpointText } from "./comments.ts";
import type { Declaration } from "./declarations.ts";

type Schema = Parameters[string]["schema"];

/** The endpoint that a function's file exports. */
export interface Definition {
  readonly request: { readonly path?: Schema; readonly query?: Parameters; readonly body?: Schema };
  /** By status: a schema, or the name of a response that is not JSON. */
  readonly reply: Readonly<Record<string, Schema | string>>;
  readonly errors: readonly ErrorCode[];
  /** Whether the response can also be a stream of events. */
  readonly eventStream?: boolean;
}

/** A line of routes.ts with the endpoint that it leads to. */
export interface RoutedEndpoint {
  readonly route: Route;
  /** The function's name in camelCase. */
  readonly name: string;
  readonly definition: Definition;
  readonly text: EndpointText;
  /** The endpoint in its file. */
  readonly source: Declaration;
}

/** Every route but the fallback, in the order of routes.ts. */
export async function routedEndpoints(): Promise<readonly RoutedEndpoint[]> {
  const named = routes.filter(({ path }) => path !== "*");
  return Promise.all(
    named.map(async (route) => {
      const file = `functions/${route.file}.ts`;
      const module: Record<string, unknown> = await import(pathToFileURL(join(root, file)).href);
      const found = Object.entries(module).find(([, value]) => isDefinition(value));
      const [exported, definition] = found ?? [];
      if (exported === undefined || !isDefinition(definition)) throw new Error(`${file} exports no endpoint`);
      const source = findEndpoint(file, exported);
      return { route, name: toName(route), definition, text: readEndpointText(source), source };
    }),
  );
}

const toName = ({ name, file }: Route): string =>
  (name ?? file.slice(file.lastIndexOf("/") + 1)).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const isDefinition = (value: unknown): value is Definition =>
  typeof value === "object" && value !== null && "request" in value && "reply" in value && "handle" in value;
