import { Command, type CommandUnknownOpts, InvalidArgumentError } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { usage } from "../problem.ts";
import { withExamples } from "./examples.ts";

/** `runyard api`: any call, for what has no command. */
export function apiCommand(context: Context): CommandUnknownOpts {
  const command = new Command("api")
    .description("call any operation of the API with your key, and print the JSON response")
    .argument("<method>", "GET, POST, PUT or DELETE", parseMethod)
    .argument("<path>", "path below the base URL, such as /agent/usage")
    .option("-d, --data <json>", "request body; `-` reads it from standard input")
    .action(async (method, path, { data }) => {
      if (method === "GET" && data !== undefined)
        throw usage("A GET has no body: leave --data out, or use ?name=value.");
      if (!path.startsWith("/")) throw usage(`The path must start with a slash: ${path}`);
      const body = data === undefined ? undefined : parseBody(data === "-" ? await context.shell.readInput() : data);
      const response = await (await context.client()).request({ method, path, body });
      if (response !== undefined) context.printJson(response);
    });
  return withExamples(
    command,
    "runyard api GET /agent/usage",
    'runyard api PUT /agent/me -d \'{"display_name": "Ada"}\'',
  );
}

function parseMethod(text: string): string {
  const method = text.toUpperCase();
  if (["GET", "POST", "PUT", "DELETE"].includes(method)) return method;
  throw new InvalidArgumentError("It is GET, POST, PUT or DELETE.");
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usage("--data is not valid JSON.");
  }
}
