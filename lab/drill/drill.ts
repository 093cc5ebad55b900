import * as v from "valibot";
import { connect } from "../../operate/smoke/service.ts";
import { Problem } from "../../server/host/terminal.ts";
import type { DrillCloud } from "./cloud.ts";
import { createData, type DrillData, readData, throwIfChanged } from "./data.ts";
import { fillIn, readGuide, toRunnable } from "./guide.ts";
import { type Release, writeSettings } from "./releases.ts";

/** What the emulator needs to deploy the templates of AWS: it has no CloudFront in front of an API, and runs no images. */
const SETTINGS = { frontDoor: "false", lambdaSandbox: "zip" };

const AdminKey = v.pipe(
  v.string(),
  v.transform((output) => output.slice(output.indexOf("{"))),
  v.parseJson(),
  v.object({ api_key: v.string() }),
);

type Step = readonly [name: string, work: (note: (text: string) => void) => Promise<void>];

/** The steps of the drill. Each relies on those before it. */
export class Drill {
  readonly steps: readonly Step[] = [
    ["install", () => this.#install()],
    ["create data", () => this.#createData()],
    ["upgrade", () => this.#upgrade()],
    ["restore", () => this.#restore()],
    ["remove", (note) => this.#remove(note)],
    ["reinstall", () => this.#reinstall()],
    ["add addresses", () => this.#addAddresses()],
    ["remove for good", (note) => this.#removeForGood(note)],
  ];
  readonly #cloud: DrillCloud;
  readonly #previous: Release;
  readonly #current: Release;
  readonly #addresses: Readonly<Record<string, string>>;
  readonly #baseUrl: string;
  #apiKey = "";
  #bucket = "";
  #data: DrillData | undefined;
  #before: Record<string, unknown> = {};

  constructor(cloud: DrillCloud, { previous, current }: { previous: Release; current: Release }) {
    this.#cloud = cloud;
    this.#previous = previous;
    this.#current = current;
    this.#baseUrl = `${cloud.url}/api/v1`;
    this.#addresses = { baseUrl: this.#baseUrl, webUrl: cloud.url };
  }

  async #install(): Promise<void> {
    await writeSettings(this.#previous, { ...SETTINGS, ...this.#addresses });
    const output = await this.#follow("Deploy", this.#previous);
    this.#apiKey = v.parse(AdminKey, output.at(-1)).api_key;
    const { BucketName = "" } = await this.#cloud.readOutputs("Runyard-Data");
    this.#bucket = BucketName;
    await this.#cloud.serveApi();
  }

  async #createData(): Promise<void> {
    this.#data = await createData(connect(this.#baseUrl, this.#apiKey));
    this.#before = await readData(this.#baseUrl, this.#data);
  }

  async #upgrade(): Promise<void> {
    await writeSettings(this.#current, { ...SETTINGS, ...this.#addresses });
    const [upgrade = ""] = readGuide("Upgrade");
    await this.#runGuide(upgrade, this.#current);
    await this.#expectData();
    await this.#follow("Check the deployment", this.#current);
  }

  async #restore(): Promise<void> {
    await this.#follow("Back up and restore", this.#current);
    await this.#expectData();
    await this.#executeRun();
  }

  async #remove(note: (text: string) => void): Promise<void> {
    const [destroy = ""] = readGuide("Remove");
    await this.#runGuide(destroy, this.#current);
    const tables = await this.#listTables();
    if (!tables.includes("runyard")) throw new Problem("The table was not kept.", tables);
    note(`kept the tables ${tables.join(", ")} and the bucket`);
  }

  /** Next to the retained table, and without addresses of its own. */
  async #reinstall(): Promise<void> {
    const [, reinstall = ""] = readGuide("Remove");
    await writeSettings(this.#current, SETTINGS);
    await this.#runGuide(reinstall, this.#current);
    await this.#cloud.serveApi();
    await this.#expectData();
  }

  /** A setting that is left out returns to its default, so the others are given again. */
  async #addAddresses(): Promise<void> {
    const existing = { tableName: "runyard-2", existingTable: "runyard", existingBucket: this.#bucket };
    await writeSettings(this.#current, { ...SETTINGS, ...existing, ...this.#addresses });
    await this.#cloud.run("npx cdk deploy --all", this.#current.directory);
    await this.#expectData();
    await this.#executeRun();
  }

  async #removeForGood(note: (text: string) => void): Promise<void> {
    const [destroy = "", , ...deletions] = readGuide("Remove");
    for (const command of [destroy, ...deletions]) await this.#runGuide(command, this.#current);
    const tables = await this.#listTables();
    if (tables.includes("runyard")) throw new Problem("The table was not deleted.", tables);
    note("deleted the table and the bucket of the first installation");
  }

  /** Runs the commands of a section of the guide. Returns the output of each. */
  async #follow(heading: string, release: Release): Promise<string[]> {
    const outputs: string[] = [];
    for (const command of readGuide(heading)) outputs.push(...(await this.#runGuide(command, release)));
    return outputs;
  }

  async #runGuide(command: string, { directory }: Release): Promise<string[]> {
    const runnable = toRunnable(command);
    if (runnable === undefined) return [];
    const values = {
      baseUrl: this.#baseUrl,
      apiKey: this.#apiKey,
      restoreTime: `${new Date().toISOString().slice(0, 19)}Z`,
      bucket: this.#bucket,
    };
    return [await this.#cloud.run(fillIn(runnable, values), directory)];
  }

  async #expectData(): Promise<void> {
    if (this.#data === undefined) throw new Error("no data was created");
    throwIfChanged(this.#before, await readData(this.#baseUrl, this.#data));
  }

  async #executeRun(): Promise<void> {
    const service = connect(this.#baseUrl, this.#apiKey);
    const run = await service.wait(await service.create("true"));
    if (run.state !== "SUCCEEDED") throw new Problem(`A new run ended in ${run.state}.`);
  }

  async #listTables(): Promise<string[]> {
    const output = await this.#cloud.run("aws dynamodb list-tables --output json", this.#current.directory);
    return v.parse(v.pipe(v.string(), v.parseJson(), v.object({ TableNames: v.array(v.string()) })), output).TableNames;
  }
}
