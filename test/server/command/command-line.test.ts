import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkoutProgram, type Program, packageProgram } from "#server/command/program.ts";
import { findProcess, recordProcess } from "#server/command/service-process.ts";
import { printSummary } from "#server/command/summary.ts";
import { VERSION } from "#server/command/version.ts";
import { openAdapters } from "#server/ports.ts";
import { keys } from "#shared/table/keys.ts";
import { readMark } from "../../../server/host/processes.ts";
import { runHere } from "../support/command-line.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
afterEach(() => void vi.unstubAllEnvs());

const COMMANDS = [
  ...[
    "serve",
    "worker",
    "agent",
    "doctor",
    "backup",
    "restore",
    "upgrade",
    "export",
    "import",
    "vault",
    "login-link",
    "stop",
    "status",
  ],
];
const STATE = {
  ...{ base_url: "http://127.0.0.1:9/api/v1", web_url: "http://127.0.0.1:9", ws_url: "ws://127.0.0.1:9/workers" },
  ...{ api_key: "ryp_key", team_uid: "team", pid: 7 },
};
const writeState = (directory: string, state: object = STATE) =>
  writeFileSync(path.join(directory, "local.json"), JSON.stringify(state));

describe("the command line", () => {
  it.each(["--version", "-V"])("prints the version with %s", async (flag) => {
    expect(await runHere([flag])).toEqual({ code: 0, output: `runyard-server ${VERSION}`, errors: "" });
  });

  it.each(["--help", "-h", "help"])("prints all commands with %s", async (flag) => {
    const { code, output, errors } = await runHere([flag]);
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/^Usage: runyard-server COMMAND \[options\]\n/);
    expect(output).toContain("\n\nrunyard-server COMMAND --help describes a command.");
    const listed = [...output.matchAll(/^ {2}(\S+) +(\S.*)$/gm)];
    expect(listed.map(([, name]) => name)).toEqual(COMMANDS);
    expect(output).toContain("  stop      stop the service\n");
  });

  it.each([
    [[], /^Usage: runyard-server COMMAND/],
    [["unknown"], /^There is no command "unknown"\.\n\nUsage: runyard-server COMMAND/],
    [["toString"], /^There is no command "toString"\./],
  ])("is refused with 2 without a command that exists: %j", async (args, message) => {
    expect(await runHere(args)).toEqual({ code: 2, output: "", errors: expect.stringMatching(message) });
  });

  it.each(COMMANDS)("describes the command %s with --help", async (name) => {
    for (const flag of ["--help", "-h"]) {
      const { code, output, errors } = await runHere([name, flag]);
      const usage = new RegExp(`^Usage: runyard-server ${name} (\\S+ )*\\S`);
      expect({ code, output, errors }).toEqual({ code: 0, output: expect.stringMatching(usage), errors: "" });
      expect(output).toMatch(/\n\n\S.{20}/);
    }
  });

  it("means the command serve in a checkout, where its help lists the others", async () => {
    const { code, output } = await runHere(["--help"], checkoutProgram({}));
    expect([code, output.split("\n")[0]]).toEqual([0, "Usage: npm start -- [COMMAND] [options]"]);
    for (const name of COMMANDS) expect(output).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
    expect(await runHere(["unknown"], checkoutProgram({}))).toMatchObject({
      ...{ code: 2, errors: 'Unexpected argument "unknown".\nSee: npm start -- --help' },
    });
  });

  it.each<[string[], string]>([
    [["serve", "--unknown"], "Unknown option '--unknown'."],
    [["status", "word"], 'Unexpected argument "word".'],
    [["stop", "word"], 'Unexpected argument "word".'],
    [["login-link", "word"], 'Unexpected argument "word".'],
    [["doctor", "word"], 'Unexpected argument "word".'],
    [["doctor", "--port", "65536"], '--port takes a number from 1 to 65535, not "65536"'],
    [["backup"], "backup needs the argument TO."],
    [["restore"], "restore needs the argument FROM."],
    [["export"], "export needs the argument TO."],
    [["import"], "import needs the argument FROM."],
    [["backup", "to", "from"], 'Unexpected argument "from".'],
    [["agent", "walk"], "agent walk: the only command is agent run"],
  ])("is refused with 2 and the reason: %j", async (args, message) => {
    const errors = `${message}\nSee: runyard-server --help`;
    expect(await runHere(args)).toEqual({ code: 2, output: "", errors });
  });

  it("names the command that was typed in the program that passed it on", async () => {
    const program = packageProgram({ HOME: "/nowhere", RUNYARD_TYPED_COMMAND: "runyard worker" });
    expect(await runHere(["worker", "--unknown"], program)).toEqual({
      ...{ code: 2, output: "", errors: "Unknown option '--unknown'.\nSee: runyard worker --help" },
    });
  });

  const failWith = (error: unknown): Program => ({
    ...packageProgram({}),
    get home(): string {
      throw error;
    },
  });
  const withCode = (code: string) => Object.assign(new Error("no"), { code });
  const DIRECTORY = "Use another directory, or run the command as the user who owns this one.";

  it.each([
    ["EACCES", DIRECTORY],
    ["EPERM", DIRECTORY],
    ["EROFS", "The file system is read-only: use another directory."],
    ["ENOSPC", "The disk is full: free some space and repeat the command."],
  ])("says what to do about the error %s", async (code, remedy) => {
    const expected = { code: 1, output: "", errors: `no\n  ${remedy}` };
    expect(await runHere(["status"], failWith(withCode(code)))).toEqual(expected);
  });

  it("shows the stack of an unexpected error alone", async () => {
    const error = withCode("EOTHER");
    expect(await runHere(["status"], failWith(error))).toMatchObject({ code: 1, errors: `no\n${error.stack}` });
    expect(await runHere(["status"], failWith(new TypeError("wrong")))).toMatchObject({ code: 1, errors: "wrong" });
    expect(await runHere(["status"], failWith("text"))).toMatchObject({ code: 1, errors: "text" });
  });
});

describe("status, stop and login-link without a service", () => {
  it("report that it is not running, and how to start it", async () => {
    const directory = data.directory();
    const [place, log] = [path.join(directory, "data"), path.join(directory, "data/logs/server.log")];
    const program = { ...packageProgram({}), home: directory };
    const lines = ["Runyard is not running.", `Data        ${place}`, `Log         ${log}`];
    const start = (usage: string) => [...lines, `Start it with: ${usage} --detach`].join("\n");
    expect(await runHere(["status"], program)).toEqual({ code: 3, output: start("runyard-server serve"), errors: "" });
    const checkout = { ...checkoutProgram({}), home: directory };
    expect(await runHere(["status"], checkout)).toMatchObject({ code: 3, output: start("npm start --") });
    expect(JSON.parse((await runHere(["status", "--json"], program)).output)).toEqual({
      ...{ state: "not running", data: place, log },
    });
    expect(await runHere(["stop"], program)).toEqual({
      ...{ code: 0, output: `Runyard is not running on ${place}.`, errors: "" },
    });
    expect(await runHere(["login-link"], program)).toEqual({
      ...{ code: 1, output: "", errors: "Runyard has not been started here: start it first." },
    });
    writeState(directory);
    const silent = `No server responds at ${STATE.base_url}: start it first.`;
    expect(await runHere(["login-link"], program)).toEqual({ code: 1, output: "", errors: silent });
  });

  it("name the process that ended without being stopped, whose record stop removes", async () => {
    const directory = data.directory();
    await recordProcess(directory, { local_url: "http://127.0.0.1:9", isolation: "none", concurrency: 4 });
    const file = path.join(directory, "server.json");
    const record = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...record, process: { ...record.process, started: "earlier" } }));
    const ended = `process ${process.pid} ended without being stopped`;
    const status = await runHere(["status", "--data", directory]);
    expect(status).toMatchObject({ code: 3, output: expect.stringContaining(`Runyard is not running; ${ended}.\n`) });
    const json = await runHere(["status", "--json", "--data", directory]);
    expect(JSON.parse(json.output)).toMatchObject({ state: "not running", last_pid: process.pid });
    const output = `Runyard is not running on ${directory} (${ended}).`;
    expect(await runHere(["stop", "--data", directory])).toEqual({ code: 0, output, errors: "" });
    expect(await findProcess(directory)).toBeUndefined();
  });
});

describe("status and stop of a process that does not respond", () => {
  it("show its state and end it", async () => {
    const directory = data.directory();
    const child = spawn(process.execPath, ["-e", "console.log('up'); setInterval(() => {}, 1000)"]);
    try {
      await once(child.stdout, "data");
      const about = { local_url: "http://127.0.0.1:9", isolation: "bubblewrap", concurrency: 3, max_disk_bytes: 5_000 };
      await recordProcess(directory, about);
      const file = path.join(directory, "server.json");
      const record = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify({ ...record, process: await readMark(child.pid ?? 0) }));
      const { code, output } = await runHere(["status", "--data", directory]);
      expect([code, output.split("\n")]).toEqual([
        1,
        [
          `Runyard is not responding: process ${child.pid}, since ${record.started_at}.`,
          "API         http://127.0.0.1:9/api/v1",
          "Isolation   bubblewrap",
          "Executions  up to 3 at the same time",
          `Data        ${directory}`,
          expect.stringMatching(/^Disk {8}database 0 bytes, files 0 bytes, limit 4\.9 KiB; \d.* free$/),
          `Log         ${directory}/logs/server.log`,
        ],
      ]);
      writeState(directory);
      const json = await runHere(["status", "--json", "--data", directory]);
      expect([json.code, JSON.parse(json.output)]).toEqual([
        1,
        {
          ...{ state: "not responding", pid: child.pid, base_url: STATE.base_url, web_url: STATE.web_url },
          ...{ ...about, started_at: record.started_at, data: directory, log: `${directory}/logs/server.log` },
          disk: { database: 0, files: 0, limit: 5_000, free: expect.any(Number) },
        },
      ]);
      const refused = await runHere(["restore", "from", "--data", directory]);
      const errors = `A service runs on ${directory}: stop process ${child.pid} first.`;
      expect(refused).toEqual({ code: 1, output: "", errors });
      expect(await runHere(["import", "from", "--data", directory])).toEqual(refused);
      const running = `Runyard is already running on ${directory} at http://127.0.0.1:9: stop process ${child.pid} first.`;
      for (const args of [["serve"], ["serve", "--detach"]]) {
        expect(await runHere([...args, "--data", directory])).toMatchObject({ code: 1, errors: running });
      }
      expect(child.exitCode ?? child.signalCode).toBeNull();
      const lines = [
        `Stopping process ${child.pid} …`,
        "Runyard is stopped. Runs that were executing continue at the next start.",
      ];
      expect(await runHere(["stop", "--data", directory])).toEqual({ code: 0, output: lines.join("\n"), errors: "" });
      expect(child.signalCode ?? (await once(child, "exit"))[1]).toBe("SIGTERM");
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("backup, restore, export and import", () => {
  const ITEM = { pk: "TEST", sk: "kept" };
  async function createData(): Promise<string> {
    const directory = data.directory();
    const { database, table } = await openAdapters(directory);
    await table.write({ kind: "put", item: ITEM });
    const secret = {
      ...keys.secret("team", "TOKEN"),
      v: 1,
      team_uid: "team",
      name: "TOKEN",
      id: "id",
      created_at: 1,
      updated_at: 1,
    };
    await table.write({ kind: "put", item: secret });
    await database.close();
    const file = path.join(directory, "files/objects/a");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "content");
    return directory;
  }
  async function readItem(directory: string): Promise<unknown> {
    const { database, table } = await openAdapters(directory);
    try {
      return await table.get(ITEM);
    } finally {
      await database.close();
    }
  }

  it("copy the data of one directory to another, and report the amount", async () => {
    const [from, to] = [await createData(), path.join(data.directory(), "new")];
    const backup = path.join(data.directory(), "backup.tar");
    const made = await runHere(["backup", backup, "--data", from]);
    const copied = `${from} was copied to ${backup}: the database, the key and 1 files (7 bytes).`;
    expect(made).toEqual({ code: 0, output: copied, errors: "" });
    const restored = await runHere(["restore", backup, "--data", to]);
    const line = /^The backup of \d{4}-\S+Z was restored to (\S+), with 1 files\.$/;
    expect(restored).toEqual({ code: 0, output: expect.stringMatching(line), errors: "" });
    expect(line.exec(restored.output)?.[1]).toBe(to);
    expect(await readItem(to)).toMatchObject(ITEM);
    expect(await runHere(["restore", backup, "--data", from])).toMatchObject({
      ...{ code: 1, output: "" },
      errors: expect.stringContaining("Restore into another directory with --data, or move this one away."),
    });
  });

  it("move items and files, and report an import that was already complete", async () => {
    const [from, to] = [await createData(), path.join(data.directory(), "new")];
    const place = path.join(data.directory(), "export");
    const exported = await runHere(["export", place, "--data", from]);
    const secrets = (title: string) => [`! ${title}:`, "    TOKEN  (team team)"];
    const line = `1 items and 1 files of ${from} were exported to ${place}.`;
    const toList = secrets("These secrets have to be created again after the import");
    expect(exported).toEqual({ code: 0, output: [line, ...toList].join("\n"), errors: "" });
    const imported = await runHere(["import", place, "--data", to]);
    const created = [`1 items and 1 files were imported into ${to}.`, ...secrets("Create these secrets again")];
    expect(imported).toEqual({ code: 0, output: created.join("\n"), errors: "" });
    expect(await readItem(to)).toMatchObject(ITEM);
    const again = `${to} contains this export already; nothing was changed.`;
    expect(await runHere(["import", place, "--data", to])).toEqual({ code: 0, output: again, errors: "" });
  });
});

describe("the summary of a start", () => {
  function print(isService: boolean, link?: string, isTerminal = true): string[] {
    const log = vi.spyOn(console, "log").mockReturnValue(undefined);
    try {
      printSummary(STATE, "/home/local.json", link, { ...packageProgram({}), isService }, isTerminal);
      return log.mock.calls.map(([text]) => String(text));
    } finally {
      log.mockRestore();
    }
  }
  const noModel = expect.stringMatching(/^No model key is configured: only fenced shell blocks run\./);

  it("has the addresses, the key and a command to copy, for a service", () => {
    expect(print(true, "http://link")).toEqual([
      "",
      "API         http://127.0.0.1:9/api/v1",
      "Docs        http://127.0.0.1:9/api/v1/docs",
      "Web app     http://link  (works once, for 10 minutes)",
      "Workers     ws://127.0.0.1:9/workers",
      "Key         ryp_key  (also in /home/local.json)",
      "Model       local/runbook",
      "CLI         runyard --help (package runyard-cli)",
      ...["", "Start a run of your own:", ""],
      "  curl -sS -X POST http://127.0.0.1:9/api/v1/agent/runs \\",
      '    -H "Authorization: Bearer ryp_key" \\',
      `    -H 'content-type: application/json' -d '{"prompt": "\`\`\`sh\\necho hello\\n\`\`\`"}'`,
      ...["", noModel, ""],
    ]);
  });

  it("contains neither the key nor a link without a terminal, and names where they are", () => {
    const lines = print(true, "http://link/secret", false);
    expect(lines.join("\n")).not.toMatch(/ryp_key|link\/secret/);
    expect(lines).toContain("Key         api_key in /home/local.json");
    expect(lines).toContainEqual(
      expect.stringMatching(/^Web app {5}http:\/\/127\.0\.0\.1:9 {2}\(`.* login-link` prints/),
    );
  });

  it("names the files of a checkout, the web app without a link, and no warning where there is a model", () => {
    vi.stubEnv("MODEL_PROVIDERS", "anthropic");
    const lines = print(false);
    expect(lines).toContain("Web app     http://127.0.0.1:9");
    expect(lines).toContain("CLI         npm run runyard -- --help");
    expect(lines.at(-2)).toBe("    -H 'content-type: application/json' -d @examples/hello.json");
    expect(lines).toContainEqual(expect.stringMatching(/^Model {7}anthropic\//));
    expect(lines).not.toContainEqual(noModel);
  });
});
