/** The arguments of an SDK middleware: the command's input, and the HTTP request once there is one. */
interface Args {
  input: object;
  request?: unknown;
}
interface Result {
  output?: object;
  response: unknown;
}
type Handler = (args: Args) => Promise<Result>;
interface Context {
  readonly clientName?: string;
  readonly commandName?: string;
}
export type Middleware = (next: Handler, context: Context) => Handler;

interface Place {
  /** `initialize`: once for each call, before retries; `deserialize`: for each attempt. */
  readonly step: "initialize" | "deserialize";
  readonly name: string;
  /** `low` is next to the network: the request is complete, and the response is not read yet. @default "normal" */
  readonly priority?: "low" | "normal";
}
interface Stack {
  add(middleware: Middleware, place: Place): void;
}

/** Any client of the AWS SDK. */
export interface AnyClient {
  readonly middlewareStack: object;
}

/** Adds a middleware to a client of any AWS service. */
export function addMiddleware(client: AnyClient, place: Place, middleware: Middleware): void {
  // biome-ignore lint/plugin: The stack's own type is one of each client's inputs and outputs, which ours look at as unknown.
  const stack = client.middlewareStack as Stack;
  stack.add(middleware, place);
}

/** `DynamoDB`, `SQS`, `Lambda`. */
export const serviceOf = ({ clientName = "" }: Context): string => clientName.replace(/Client$/, "");
/** Without its suffix: `TransactWriteItems`, `PutObject`. */
export const commandOf = ({ commandName = "" }: Context): string => commandName.replace(/Command$/, "");

/** A member of any value; undefined if there is none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
