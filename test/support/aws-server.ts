import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { findOperation, isRecord, listOperations, type Operation, type ServiceName } from "./aws-model.ts";

/** An error response in the service's format. */
export class Refusal extends Error {
  readonly status: number;
  readonly members: Readonly<Record<string, unknown>>;
  constructor(name: string, message: string, status = 400, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = name;
    this.status = status;
    this.members = members;
  }
}

export interface Request {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Responses = Readonly<Record<string, (input: Readonly<Record<string, unknown>>) => unknown>>;

/**
 * A local AWS service for the SDK to call. Each request and each response must match the SDK's own model in all members.
 * A test can make the next requests fail or delay their responses.
 */
export async function startService(service: ServiceName, responses: Responses, extra: (request: Request) => string[]) {
  const requests: Request[] = [];
  /** Errors that the next requests of an operation get, one each. */
  const refusals: { readonly operation: string; readonly refusal: Refusal; readonly afterwards?: boolean }[] = [];
  let lagMs = 0;

  async function respond(request: Request): Promise<unknown> {
    const operation = findOperation(service, request.operation);
    requests.push(request);
    const problems = [...operation.requestProblems(request.input), ...extra(request)];
    if (problems.length > 0) throw new Refusal("ValidationException", problems.join("; "));
    if (lagMs > 0) await new Promise((resolve) => setTimeout(resolve, lagMs));
    const index = refusals.findIndex((one) => one.operation === request.operation);
    const [refused] = index < 0 ? [] : refusals.splice(index, 1);
    if (refused !== undefined && refused.afterwards !== true) throw refused.refusal;
    const perform = responses[request.operation];
    if (perform === undefined)
      throw new Refusal("UnknownOperationException", `${request.operation} is not supported`, 404);
    const output = perform(request.input);
    // The operation was performed, and its response is lost.
    if (refused !== undefined) throw refused.refusal;
    const wrong = operation.respondWithProblem(output);
    if (wrong.length > 0) throw new Refusal("StandInIsWrong", wrong.join("; "), 501);
    return output;
  }

  const server = createServer(async (message, response) => {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    try {
      send(200, await respond(await parseRequest(service, message)));
    } catch (error) {
      if (!(error instanceof Refusal)) return send(500, { message: String(error) });
      const body = { __type: error.name, message: error.message, ...error.members };
      return send(error.status, body, { "x-amzn-errortype": error.name });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");

  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    /** The inputs that an operation was called with. */
    inputs: (operation: string) => requests.filter((one) => one.operation === operation).map(({ input }) => input),
    refuse: (operation: string, refusal: Refusal) => void refusals.push({ operation, refusal }),
    /** Performs the next request, and returns an error for it. */
    loseResponse: (operation: string) =>
      void refusals.push({ operation, refusal: new Refusal("InternalServerException", "lost", 500), afterwards: true }),
    lag: (milliseconds: number) => {
      lagMs = milliseconds;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function parseRequest(service: ServiceName, message: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const body: unknown = text === "" ? {} : JSON.parse(text);
  if (!isRecord(body)) throw new Refusal("SerializationException", "the body is not an object");
  const target = message.headers["x-amz-target"];
  if (typeof target === "string") return { operation: target.slice(target.indexOf(".") + 1), input: body };
  const { pathname } = new URL(message.url ?? "/", "http://localhost");
  for (const operation of listOperations(service).map((name) => findOperation(service, name))) {
    const labels = matchLabels(operation, message.method ?? "", pathname);
    if (labels !== undefined) return { operation: operation.name, input: { ...body, ...labels } };
  }
  throw new Refusal("UnknownOperationException", `${message.method} ${pathname}`, 404);
}

/** Returns the values of the parameters in the operation's path, or undefined if the request is for another operation. */
function matchLabels({ http }: Operation, method: string, pathname: string): Record<string, string> | undefined {
  if (http?.[0] !== method) return undefined;
  const names = http[1].split("/");
  const parts = pathname.split("/").map(decodeURIComponent);
  if (names.length !== parts.length) return undefined;
  const isName = (name: string) => name.startsWith("{");
  if (!names.every((name, index) => isName(name) || name === parts[index])) return undefined;
  return Object.fromEntries(
    names.flatMap((name, index) => (isName(name) ? [[name.slice(1, -1), parts[index] ?? ""]] : [])),
  );
}
