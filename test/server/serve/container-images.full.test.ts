import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "#server/command/version.ts";
import { Runyard } from "../../../clients/typescript/src/index.ts";
import { root as checkout } from "../../../scripts/run-command.ts";
import { eventually } from "../support/eventually.ts";

/**
 * The steps of the Dockerfiles, executed on a root of Debian by mmdebstrap with this machine's Node instead of the image that FROM names.
 * They need root.
 */
const run = promisify(execFile);
const place = mkdtempSync(path.join(tmpdir(), "runyard-images-"));
const base = path.join(place, "base");
const tarball = path.join(place, `runyard-server-${VERSION}.tgz`);

interface Image {
  readonly root: string;
  user: string;
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
}

/** A container has ports of its own, and this one does not. */
const FREE_PORT = "24731";

const LocalCloud = v.object({ base_url: v.string(), api_key: v.string() });
const Words = v.pipe(v.string(), v.parseJson(), v.array(v.string()));

/** Executes a Dockerfile's instructions in a copy of the base. */
async function build(file: string): Promise<Image> {
  const root = mkdtempSync(path.join(place, "image-"));
  await run("cp", ["--archive", `${base}/.`, root]);
  const lines = readFileSync(path.join(checkout, file), "utf8").replaceAll("\\\n", "").split("\n");
  const image: Image = { root, user: "root", entrypoint: [], command: [], healthcheck: [] };
  for (const line of lines.filter((one) => one !== "" && !one.startsWith("#"))) {
    const [, instruction = "", text = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (instruction === "FROM") expect(text).toBe("node:24-bookworm-slim");
    else if (instruction === "RUN") await run("chroot", [root, "/bin/sh", "-c", text], { env: { PATH: PATH } });
    else if (instruction === "COPY") copyFileSync(tarball, path.join(root, text.replace(`\${TARBALL} `, "")));
    else if (instruction === "USER") image.user = text;
    else if (instruction === "ENTRYPOINT") image.entrypoint = v.parse(Words, text);
    else if (instruction === "CMD") image.command = v.parse(Words, text);
    else if (instruction === "HEALTHCHECK") image.healthcheck = v.parse(Words, text.slice(text.indexOf("CMD") + 4));
    else expect(["ARG", "VOLUME", "EXPOSE", "STOPSIGNAL"]).toContain(instruction);
  }
  return image;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Makes the image's root that of the process, as container runtimes do: what runs there can make user namespaces, unlike after chroot. */
const ENTER = `set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
cd "$1"
pivot_root . mnt
umount --lazy /mnt
shift
exec "$@"`;

const asUser = ({ user }: Image) => [
  "setpriv",
  `--reuid=${user}`,
  `--regid=${user}`,
  "--init-groups",
  "--no-new-privs",
];
const variablesOf = ({ user }: Image) => ({ PATH, HOME: `/home/${user}` });

/** A program of an image that runs as its user, with processes of its own. */
class Container implements AsyncDisposable {
  readonly #image: Image;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(image: Image, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const enter = ["--mount", "--pid", "--fork", "sh", "-c", ENTER, "sh", image.root, ...asUser(image)];
    this.#image = image;
    this.#child = spawn("unshare", [...enter, ...image.entrypoint, ...args], {
      env: { ...variablesOf(image), ...env },
      stdio: "ignore",
    });
    this.#ended = once(this.#child, "exit");
  }

  /** Executes a program beside it, as `docker exec` does, and returns its standard output. Throws if it fails. */
  async execute(words: readonly string[]): Promise<string> {
    const enter = ["--target", await this.#pid(), "--mount", "--pid", "--", ...asUser(this.#image)];
    return (await run("nsenter", [...enter, ...words], { env: variablesOf(this.#image) })).stdout;
  }

  /** Sends SIGTERM, and returns the exit code and the signal that ended it. */
  async stop(): Promise<unknown> {
    await this.#pid().then(
      (pid) => process.kill(Number(pid)),
      () => undefined,
    );
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** The process that `unshare`, which ignores signals, waits for. Throws if it has ended. */
  async #pid(): Promise<string> {
    return (await run("pgrep", ["--parent", String(this.#child.pid)])).stdout.trim();
  }
}

beforeAll(async () => {
  await run("mmdebstrap", ["--quiet", "--variant=minbase", "bookworm", base]);
  copyFileSync(process.execPath, path.join(base, "usr/local/bin/node"));
  const { stdout: npm } = await run("sh", ["-c", 'realpath "$(command -v npm)"']);
  cpSync(path.join(npm, "../.."), path.join(base, "usr/local/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", path.join(base, "usr/local/bin/npm"));
  const source = path.join(checkout, "packages/runyard-server");
  await run("npm", ["pack", "--silent", "--pack-destination", place], { cwd: source });
}, 600_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("the container images of the examples", () => {
  it("are built, serve, pass the health check, and execute runs in bubblewrap, also on a worker", async () => {
    const image = await build("examples/single-machine/Dockerfile");
    await using server = new Container(
      image,
      image.command.map((word) => (word === "4500" ? FREE_PORT : word)),
    );
    await eventually(() => server.execute(image.healthcheck));
    const { base_url, api_key } = v.parse(LocalCloud, JSON.parse(await server.execute(["cat", "/data/local.json"])));
    expect(await server.execute(["runyard-server", "status", "--data", "/data"])).toContain("bubblewrap");
    const client = new Runyard({ baseURL: base_url, apiKey: api_key });
    const prompt = "```sh\ngrep bookworm /etc/os-release\n```";
    expect(await client.runs.createAndWait({ prompt })).toMatchObject({ state: "SUCCEEDED" });

    const workerImage = await build("examples/worker/Dockerfile");
    const access = { RUNYARD_BASE_URL: base_url, RUNYARD_API_KEY: api_key };
    await using worker = new Container(workerImage, ["--id", "rack-7"], access);
    await eventually(async () => {
      for await (const { worker_host } of client.workers.list()) if (worker_host === "rack-7") return;
      throw new Error("the worker is not connected");
    });
    const executed = await client.runs.createAndWait({ prompt, config: { worker_host: "rack-7" } });
    expect(executed).toMatchObject({ state: "SUCCEEDED", execution_location: "REMOTE" });
    expect(await worker.stop()).toEqual([0, null]);
    expect(await server.stop()).toEqual([0, null]);
  }, 900_000);
});
