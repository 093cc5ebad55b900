import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as v from "valibot";
import { TimerInput, type Timers } from "./timers.ts";

/** The endpoint's path at the proxy's address, followed by a random segment that callers have to know. */
export const SCHEDULER_PATH = "/_aws/scheduler";

/** An error response in AWS's format. */
class Refused extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}
const invalid = (message: string) => new Refused(400, "ValidationException", message);

/** The part of EventBridge Scheduler's API that schedules are kept by: create, read, update and delete one timer. */
export async function handleSchedulerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  timers: Timers,
  /** Path of the endpoint with its random segment. */
  path: string,
): Promise<void> {
  try {
    // A page of a browser may send here too, but not without saying where it is from, and never with these credentials.
    const isSigned = request.headers.authorization?.includes("/scheduler/aws4_request") ?? false;
    if (!isSigned || request.headers.origin !== undefined) {
      throw new Refused(403, "AccessDeniedException", "this is for the functions of the local cloud");
    }
    send(response, 200, await work(request, timers, path));
  } catch (error) {
    request.resume();
    const refused = error instanceof Refused ? error : new Refused(500, "InternalServerException", String(error));
    response.setHeader("x-amzn-errortype", refused.type);
    send(response, refused.status, { Message: refused.message });
  }
}

async function work(request: IncomingMessage, timers: Timers, path: string): Promise<unknown> {
  const url = new URL(request.url ?? "/", "http://scheduler");
  const name = /^\/schedules\/([0-9A-Za-z_.-]{1,64})$/.exec(url.pathname.slice(path.length))?.[1];
  if (name === undefined) throw new Refused(404, "ResourceNotFoundException", `there is nothing at ${url.pathname}`);
  const group = url.searchParams.get("groupName") ?? "default";
  const found = (inGroup: string) => {
    const timer = timers.get(inGroup, name);
    if (timer !== undefined) return timer;
    throw new Refused(404, "ResourceNotFoundException", `Schedule ${name} does not exist.`);
  };
  switch (request.method) {
    case "GET":
      return found(group);
    case "DELETE":
      found(group);
      await timers.remove(group, name);
      return {};
    case "POST":
    case "PUT": {
      const input = await read(request);
      if (request.method === "PUT") found(input.GroupName);
      else if (timers.get(input.GroupName, name) !== undefined) {
        throw new Refused(409, "ConflictException", `Schedule ${name} already exists.`);
      }
      const timer = await timers.put(name, input).catch((error: unknown) => {
        throw invalid(error instanceof Error ? error.message : String(error));
      });
      return { ScheduleArn: timer.Arn };
    }
    default:
      throw new Refused(405, "ValidationException", `${request.method} is not an operation on a schedule`);
  }
}

async function read(request: IncomingMessage): Promise<v.InferOutput<typeof TimerInput>> {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TimerInput), await text(request));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw invalid(`${v.getDotPath(issue) ?? "body"}: ${issue.message}`);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
