/** What a middleware of an SDK's client is handed: the command's input, and the HTTP request once there is one. */
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
  /** `initialize`: once a call, before it is retried; `deserialize`: at each attempt of it. */
  readonly step: "initialize" | "deserialize";
  readonly name: string;
  /** `low` is next to the wire: the request is as it is sent, and the answer not read yet. @default "normal" */
  readonly priority?: "low" | "normal";
}
interface Stack {
  add(middleware: Middleware, place: Place): void;
}

/** Anything that the AWS SDK calls a client. */
export interface AnyClient {
  readonly middlewareStack: object;
}

/** Puts a middleware into a client of the AWS SDK, of whichever service. */
export function addMiddleware(client: AnyClient, place: Place, middleware: Middleware): void {
  // biome-ignore lint/plugin: The stack's own type is one of each client's inputs and outputs, which ours look at as unknown.
  const stack = client.middlewareStack as Stack;
  stack.add(middleware, place);
}

/** `DynamoDB`, `SQS`, `Lambda`. */
export const serviceOf = ({ clientName = "" }: Context): string => clientName.replace(/Client$/, "");
/** Without its ending: `TransactWriteItems`, `PutObject`. */
export const commandOf = ({ commandName = "" }: Context): string => commandName.replace(/Command$/, "");

/** A member of anything; undefined where there is none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
