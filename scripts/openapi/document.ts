import { Problem } from "#shared/wire/problem.ts";
import { RequestWarning } from "#shared/wire/request-warning.ts";
import { type RoutedEndpoint, routedEndpoints } from "./endpoints.ts";
import { withExamples } from "./examples.ts";
import { describeComponents } from "./fields.ts";
import { HEADERS, PARAMETERS } from "./headers.ts";
import { INFO } from "./info.ts";
import { isObject, type JsonObject } from "./json.ts";
import { buildOperation } from "./operations.ts";
import { problemComponents } from "./problems.ts";
import { namedSchemas, SchemaBook } from "./schemas.ts";
import { listTags } from "./tags.ts";
import { withWarnings } from "./warnings.ts";

/** Generates the OpenAPI 3.1 document of the API from routes.ts and the endpoints. */
export async function generateDocument(): Promise<JsonObject> {
  const endpoints = await routedEndpoints();
  const book = new SchemaBook(await namedSchemas());
  book.convert(Problem, "output");
  book.convert(RequestWarning, "output");
  const paths = buildPaths(endpoints, book);
  const document = book.finish({
    openapi: "3.1.1",
    info: INFO,
    servers: [
      {
        url: "{base_url}",
        variables: {
          base_url: {
            default: "http://127.0.0.1:4500/api/v1",
            description: "The base URL of the deployment, which ends in /api/v1. The deployment prints it.",
          },
        },
      },
    ],
    security: [{ bearer: [] }],
    tags: listTags(endpoints.map(({ route }) => route.file)).map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { bearer: BEARER, session: SESSION },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: problemComponents(),
    },
  });
  const schemas = describeComponents(book.components());
  const components = { ...(isObject(document["components"]) ? document["components"] : {}), schemas };
  return withWarnings(withExamples({ ...document, components }));
}

const BEARER = {
  type: "http",
  scheme: "bearer",
  description:
    "An API key: `ryp_…` of a person, `rya_…` of an identity, `ryr_…` of one execution of a run. " +
    "`x-principals` of an operation lists the kinds of keys that can call it: personal, agent, run. `x-scope` is the scope that " +
    "the key needs, or names the reason why it needs none: `public`, `own run` (reports of a run about itself), `own session` " +
    "(the sign-in of the request itself) or `each tool` (a tool needs the scope of the endpoint that it stands for).",
} as const;

const SESSION = {
  type: "apiKey",
  in: "cookie",
  name: "__Host-runyard",
  description:
    "The web session of a person, from `POST /session`. Over plain HTTP the cookie is called `runyard`. Requests that change " +
    "something need an `Origin` header of the deployment. An `Authorization` header takes precedence.",
} as const;

function buildPaths(endpoints: readonly RoutedEndpoint[], book: SchemaBook): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const seen = new Set<string>();
  for (const endpoint of endpoints) {
    const { path, method } = endpoint.route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: buildOperation(endpoint, book, seen.has(endpoint.name)) };
    seen.add(endpoint.name);
  }
  return paths;
}
