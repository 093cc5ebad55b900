import http from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from "@aws-sdk/client-lambda";
import * as v from "valibot";
import { readJson } from "../server/host/files.ts";
import { Problem } from "../server/host/terminal.ts";
import { clientSettings } from "./emulator-access.ts";
import { LocalFile } from "./local-file.ts";

/** All functions of a deployment are named like this, locally and on AWS. */
const PREFIX = "runyard-";

/** What a function responded. */
export interface Invoked {
  readonly payload: string;
  readonly log: string;
  /** Why it failed; undefined if it did not. */
  readonly error: string | undefined;
}

/** Invokes functions of the service that runs on this machine. */
export interface Invoker {
  names(): Promise<string[]>;
  invoke(name: string, event: string): Promise<Invoked>;
}

/** Finds the service that a local.json describes: the emulator, or the single machine. */
export async function findInvoker(localFile: string): Promise<Invoker> {
  const emulator = await readJson(localFile, LocalFile);
  return emulator === undefined ? machineInvoker(path.dirname(localFile)) : emulatorInvoker(emulator);
}

function emulatorInvoker(local: LocalFile): Invoker {
  const client = new LambdaClient({
    ...clientSettings({ endpoint: local.emulator_url, secretKey: local.emulator_key }),
    maxAttempts: 1,
  });
  return {
    async names() {
      const names: string[] = [];
      let marker: string | undefined;
      do {
        const page = await client
          .send(new ListFunctionsCommand(marker === undefined ? {} : { Marker: marker }))
          .catch(() => {
            throw new Problem(`The local cloud does not respond at ${local.emulator_url}: run npm run emulator.`);
          });
        names.push(...(page.Functions ?? []).flatMap(({ FunctionName = "" }) => FunctionName));
        marker = page.NextMarker;
      } while (marker);
      return names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    },
    async invoke(name, event) {
      const response = await client.send(
        new InvokeCommand({ FunctionName: `${PREFIX}${name}`, Payload: Buffer.from(event), LogType: "Tail" }),
      );
      return {
        payload: Buffer.from(response.Payload ?? []).toString("utf8"),
        log: Buffer.from(response.LogResult ?? "", "base64").toString("utf8"),
        error: response.FunctionError,
      };
    },
  };
}

/** The single machine listens on a socket in its data directory. */
function machineInvoker(home: string): Invoker {
  const sockets = [path.join(home, "data", "control.sock"), path.join(home, "control.sock")];
  const call = async (method: string, at: string, body?: string) => {
    for (const socketPath of sockets) {
      const response = await send(socketPath, method, at, body).catch(() => undefined);
      if (response !== undefined) return response;
    }
    throw new Problem("No service runs on this machine: start it with npm start, or npm run emulator.");
  };
  return {
    names: async () => v.parse(v.array(v.string()), (await call("GET", "/")).body),
    async invoke(name, event) {
      const { status, body } = await call("POST", `/${name}`, event);
      const log = "The log is in logs/server.log of the data directory.";
      return { payload: JSON.stringify(body), log, error: status === 200 ? undefined : "Unhandled" };
    },
  };
}

function send(socketPath: string, method: string, at: string, body: string | undefined) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const request = http.request({ socketPath, method, path: at }, (response) => {
      json(response).then((parsed) => resolve({ status: response.statusCode ?? 0, body: parsed }), reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
