import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { bootstrapLocal } from "../operate/bootstrap.ts";
import { type Api, fetchStatus } from "../server/host/api.ts";
import { readJson, writeJson } from "../server/host/files.ts";
import { webAppDirectory } from "../server/host/http/web-app.ts";
import { decideIsolation } from "../server/host/isolation.ts";
import { localModels } from "../server/host/models.ts";
import { type LocalPaths, projectRoot } from "../server/host/paths.ts";
import { firstFreePort, throwPortProblem } from "../server/host/ports.ts";
import { preflight } from "../server/host/preflight.ts";
import { isStillOurs, ProcessMark, readMark } from "../server/host/processes.ts";
import { Problem, say, step, warn } from "../server/host/terminal.ts";
import {
  bootstrapAccount,
  computeFingerprint,
  currentDeployment,
  type DeploymentSettings,
  deploy,
  type StackOutputs,
} from "./deployment.ts";
import { type Emulator, killEmulator, startEmulator, stopEmulator } from "./emulator.ts";
import { wakeFunction } from "./emulator-calls.ts";
import { stateSavedAt, transitionState } from "./emulator-state.ts";
import { type HttpProxy, startHttpProxy } from "./http-proxy.ts";
import { LocalFile } from "./local-file.ts";
import { localGateway } from "./model-gateway.ts";
import { isFaults } from "./options.ts";
import { readOutsideSystems, storeGithubApp } from "./outside-systems.ts";
import { ensurePythonEnvironment } from "./python-environment.ts";
import { Timers } from "./timers.ts";

export interface LocalCloud {
  api: Api;
  webUrl: string;
  /** Settles when the emulator ends without being stopped. */
  lost: Promise<void>;
}

export interface CloudOptions {
  /** What makes the emulator's environment. */
  python: string;
  port?: number | undefined;
  /** The faults to inject between functions and emulator, in the format of `RUNYARD_FAULTS`. @default that variable */
  faults?: string | undefined;
  signal: AbortSignal;
}

const TABLE_NAME = "runyard";
const REAPER_FUNCTION = "runyard-reap-runs";
const DOOR_PORT = 4500;
const EMULATOR_PORT = 14_566;
const SCRATCH_PREFIX = "runyard-local-";

const Settings = v.object({ port: v.number(), emulator_port: v.number() });
const Processes = v.object({
  start: ProcessMark,
  emulator: v.exactOptional(ProcessMark),
  scratch: v.exactOptional(v.string()),
});

/** Everything that one start creates, and stops again in reverse order. */
export class LocalCloudSession {
  readonly #paths: LocalPaths;
  #door: HttpProxy | undefined;
  #timers: Timers | undefined;
  #emulator: ProcessMark | undefined;
  #stopping: Promise<void> | undefined;
  #scratch: string | undefined;
  #claimed = false;
  /** Value of RUNYARD_SANDBOX for all harnesses of this start. */
  #isolation = "bubblewrap";

  constructor(paths: LocalPaths) {
    this.#paths = paths;
  }

  /** Checks the host and locks the state directory; returns the Python to use. */
  async prepare(fresh: boolean): Promise<string> {
    const found = await step("host", async (note) => {
      const host = {
        platform: process.platform,
        searchPath: process.env["PATH"] ?? "",
        python: process.env["RUNYARD_PYTHON"],
      };
      const result = await preflight(host);
      note(`Node ${process.versions.node}, Python ${result.pythonVersion}`);
      return result;
    });
    for (const warning of found.warnings) warn(warning);
    this.#isolation = (await decideIsolation(process.env["RUNYARD_SANDBOX"])).isolation;
    await this.#claim(fresh);
    return found.python;
  }

  async start(options: CloudOptions): Promise<LocalCloud> {
    const paths = this.#paths;
    const faults = options.faults ?? process.env["RUNYARD_FAULTS"];
    if (faults && !isFaults(faults))
      throw new Problem(`RUNYARD_FAULTS takes a number, or two as in 7/20, not "${faults}"`);
    await step("python packages", async (note) =>
      note(await ensurePythonEnvironment(paths.venv, options.python, options.signal)),
    );
    const door = await step("local proxy", async (note) => {
      const opened = await this.#openDoor(options.port);
      note(`http://127.0.0.1:${opened.port}`);
      return opened;
    });
    const emulator = await step("emulator", async (note) => {
      const running = await this.#startEmulator(door, faults);
      note(faults ? `${running.endpoint}, with faults by seed ${faults}` : running.endpoint);
      return running;
    });
    await writeJson(paths.settings, { port: door.port, emulator_port: emulator.port });

    const webUrl = `http://127.0.0.1:${door.port}`;
    const systems = await readOutsideSystems(process.env);
    const sandboxSeconds = process.env["RUNYARD_SANDBOX_SECONDS"];
    const workerClaimSeconds = process.env["WORKER_CLAIM_SECONDS"];
    const models = localModels(process.env);
    door.serveModels(localGateway(emulator, TABLE_NAME, models, faults));
    const settings: DeploymentSettings = {
      baseUrl: `${webUrl}/api/v1`,
      webUrl,
      emulatorPort: emulator.port,
      ...(Object.keys(systems.context).length > 0 ? { systems: systems.context } : {}),
      ...(sandboxSeconds ? { sandboxSeconds } : {}),
      ...(workerClaimSeconds ? { workerClaimSeconds } : {}),
      ...(Object.keys(models.context).length > 0 ? { models: models.context } : {}),
    };
    await step("account", async (note) => note(await bootstrapAccount(emulator, paths, options.signal)));
    if (systems.githubApp !== undefined) await storeGithubApp(emulator, systems.githubApp);
    await step("deployment", async (note) => note(await this.#deploy(door, emulator, settings, options.signal)));
    // The emulator's schedule restarts with each start; runs that were active when it stopped need not wait a minute for the reaper.
    this.#timers?.begin((functionName, event) => wakeFunction(emulator, functionName, JSON.parse(event)));
    await wakeFunction(emulator, REAPER_FUNCTION, { source: "aws.events", "detail-type": "Scheduled Event" });
    const local = await step("team and key", (note) => this.#ensureKey(emulator, settings, note));
    await writeJson(paths.localFile, local);
    return { api: { baseUrl: local.base_url, key: local.api_key }, webUrl, lost: emulator.ended };
  }

  /** Stops all that was started; a second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Exits without saving anything, for users who do not want to wait. */
  abandon(): void {
    if (this.#emulator !== undefined) killEmulator(this.#emulator);
  }

  async #stop(): Promise<void> {
    await this.#door?.close();
    await this.#timers?.end();
    if (this.#emulator !== undefined) {
      const report = await stopEmulator(this.#emulator, this.#paths);
      if (report.how === "killed") warn("The emulator did not end within 10 seconds and was killed.");
      if (!report.saved) {
        const saved = await stateSavedAt(this.#paths);
        warn(`Its state was not saved: ${sinceWhen(saved)}`);
      }
    }
    await removeScratch(this.#scratch);
    if (this.#claimed) await rm(this.#paths.processes, { force: true });
  }

  /** Makes this start the owner of the state directory, after ending what a killed one left behind. */
  async #claim(fresh: boolean): Promise<void> {
    const paths = this.#paths;
    const earlier = await readJson(paths.processes, Processes);
    if (earlier !== undefined && (await isStillOurs(earlier.start))) {
      const where = await readJson(paths.localFile, LocalFile);
      const address = where?.pid === earlier.start.pid ? ` at ${where.base_url}` : "";
      throw new Problem(`Runyard is running here already${address}: stop process ${earlier.start.pid} first.`);
    }
    if (earlier?.emulator !== undefined && (await isStillOurs(earlier.emulator))) {
      const { emulator } = earlier;
      await step("leftovers", async (note) => {
        const report = await stopEmulator(emulator, paths);
        note(`ended emulator ${emulator.pid} of a killed start; its state was ${report.saved ? "saved" : "not saved"}`);
      });
    } else if (earlier !== undefined && !fresh) {
      warn(`The last start was killed: ${sinceWhen(await stateSavedAt(paths))}`);
    }
    await removeScratch(earlier?.scratch);
    const mark = await readMark(process.pid);
    if (mark === undefined) throw new Error("this process cannot be found in the process table");
    if (fresh) {
      const { state, objects, localFile, timers, settings, assembly } = paths;
      const forgotten = [state, objects, localFile, timers, settings, assembly];
      await Promise.all(forgotten.map((item) => rm(item, { recursive: true, force: true })));
    }
    await writeJson(paths.processes, { start: mark });
    this.#claimed = true;
  }

  async #openDoor(wanted: number | undefined): Promise<HttpProxy> {
    const last = await readJson(this.#paths.settings, Settings);
    const first = wanted ?? last?.port ?? DOOR_PORT;
    const port = wanted ?? (await firstFreePort(first));
    if (port !== first) warn(`Port ${first} is busy: ${port} is used instead.`);
    this.#timers = await Timers.open(this.#paths.timers);
    const options = { port, webDirectory: webAppDirectory, timers: this.#timers };
    this.#door = await startHttpProxy(options).catch((error: unknown) => throwPortProblem(error, port, "127.0.0.1"));
    return this.#door;
  }

  async #startEmulator(door: HttpProxy, faults: string | undefined): Promise<Emulator> {
    const last = await readJson(this.#paths.settings, Settings);
    const port = await firstFreePort(last?.emulator_port ?? EMULATOR_PORT);
    if (last !== undefined) await transitionState(this.#paths, last.emulator_port, port);
    const start = await readMark(process.pid);
    const scratch = await mkdtemp(path.join(tmpdir(), SCRATCH_PREFIX));
    this.#scratch = scratch;
    const remember = async (mark: ProcessMark): Promise<void> => {
      this.#emulator = mark;
      await writeJson(this.#paths.processes, { start, emulator: mark, scratch });
    };
    const { schedulerUrl } = door;
    const environment = { ...process.env, RUNYARD_FAULTS: faults, RUNYARD_SANDBOX: this.#isolation };
    return startEmulator(this.#paths, { port, scratch, schedulerUrl, environment, remember });
  }

  async #deploy(
    door: HttpProxy,
    emulator: Emulator,
    settings: DeploymentSettings,
    signal: AbortSignal,
  ): Promise<string> {
    const fingerprint = await computeFingerprint(projectRoot, settings);
    const current = await currentDeployment(emulator, fingerprint);
    if (current !== undefined) {
      door.openTo(findApiUrl(current, emulator.endpoint), emulator.secretKey);
      if (await responses(settings.baseUrl)) return "unchanged";
    }
    const outputs = await deploy(emulator, this.#paths, settings, fingerprint, signal);
    door.openTo(findApiUrl(outputs, emulator.endpoint), emulator.secretKey);
    if (await responses(settings.baseUrl)) return "deployed";
    throw new Problem(`The deployed API does not respond at ${settings.baseUrl}.`);
  }

  async #ensureKey(emulator: Emulator, settings: DeploymentSettings, note: (text: string) => void): Promise<LocalFile> {
    const addresses = {
      base_url: settings.baseUrl,
      web_url: settings.webUrl,
      emulator_url: emulator.endpoint,
      emulator_key: emulator.secretKey,
      pid: process.pid,
    };
    const last = await readJson(this.#paths.localFile, LocalFile);
    if (last !== undefined && (await fetchStatus(`${settings.baseUrl}/agent/runs?limit=1`, last.api_key)) === 200) {
      note("kept");
      return { ...last, ...addresses };
    }
    const credentials = await bootstrapLocal(emulator, TABLE_NAME);
    note("made");
    return { ...addresses, api_key: credentials.api_key, team_uid: credentials.team_uid };
  }
}

/** The API is ready when it requires a key. */
const responses = async (baseUrl: string): Promise<boolean> => (await fetchStatus(`${baseUrl}/agent/runs`)) === 401;

function findApiUrl(outputs: StackOutputs, endpoint: string): string {
  for (const stack of Object.values(outputs)) {
    for (const [name, value] of Object.entries(stack)) {
      if (/^(Http)?ApiId$/.test(name)) return `${endpoint}/_aws/execute-api/${value}/$default`;
    }
  }
  say();
  throw new Problem("No stack gave out the API's id (an output named ApiId).");
}

async function removeScratch(folder: string | undefined): Promise<void> {
  if (folder === undefined || !path.basename(folder).startsWith(SCRATCH_PREFIX)) return;
  // A file that an agent left unreadable is no reason to fail.
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

function sinceWhen(saved: Date | undefined): string {
  return saved === undefined
    ? "nothing was saved before, so it begins afresh."
    : `what is there is from the last clean stop, ${saved.toLocaleString("sv-SE")}.`;
}
