/** `npm run lab -- bench-web`: measures what docs/web.md states about the speed of the web app, on a service of its own. */
import { parseArgs } from "node:util";
import * as v from "valibot";
import { onInterrupt } from "../../../lab/bench/interruption.ts";
import { webScriptBytes } from "../../../lab/bench/web-script.ts";
import { ensureWebApp } from "../../../server/host/http/web-app.ts";
import { client, commands } from "../../support/api-client.ts";
import { startService } from "../../support/service.ts";
import { openBrowser } from "../support/browser.ts";
import { measureAppearance } from "./appearance.ts";
import { serveLongList, serveLongRun } from "./long-pages.ts";
import { measureScrolling, type Scrolled } from "./scrolling.ts";

const HELP = `Usage: npm run lab -- bench-web [options]

Measures the web app of a service that it starts, in Chromium, against the budgets of docs/web.md.

  --rounds N   visits of each page, of which the median counts (default 5)
  --only PART  measure only \`loading\` or only \`scrolling\`
  --help       show this text`;

const Part = v.picklist(["loading", "scrolling"]);

interface Options {
  readonly rounds: number;
  readonly parts: readonly v.InferOutput<typeof Part>[];
}

const THROTTLE = 4;
const RUNBOOK = { config: { model_id: "local/runbook" } };
/** Titles as people write them, since the largest paint of the list is one of them. */
const TITLES = [
  "Update the dependencies and fix what they break",
  "Fix the flaky voucher test of the checkout",
  "Write the changelog of release 4.2",
  "Review the changes of the week for security faults",
];

async function main(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (typeof options === "string") {
    console.error(options);
    return options === HELP ? 0 : 2;
  }
  await measure(options);
  return 0;
}

async function measure({ rounds, parts }: Options): Promise<void> {
  await ensureWebApp();
  const browser = await openBrowser({ handlesSignals: false });
  onInterrupt(() => browser.close());
  try {
    await using service = await startService({ environment: { RUNYARD_SANDBOX: "none" } });
    onInterrupt(() => service[Symbol.asyncDispose]());
    const { create, ended } = client(service);
    const run = await create(`Print **lines**.\n\n${commands("seq 200", "echo done")}`, {
      title: "Print lines",
      ...RUNBOOK,
    });
    const others: string[] = [];
    for (let count = 0; count < 40; count++) {
      const title = TITLES[count % TITLES.length];
      others.push(await create(commands(`echo ${count}`), { title, ...RUNBOOK }));
    }
    for (const id of [run, ...others]) await ended(id);

    report("script of the largest first page, gzip", `${Math.round((await webScriptBytes()) / 1000)} kB`, "≤ 150 kB");
    const pages = [
      { name: "list of runs", path: "/runs", content: ".run-row" },
      { name: "page of a run", path: `/runs/${run}`, content: ".terminal-text" },
      { name: "sign-in", path: "/sign-in", content: "input[type=password]" },
    ];
    for (const page of parts.includes("loading") ? pages : []) {
      const { largest, element, content, load } = await measureAppearance(browser, service, page, rounds, THROTTLE);
      const what = `of the ${page.name}, processor throttled ${THROTTLE} times`;
      report(`largest contentful paint ${what}`, `${largest} ms (${element})`, "≤ 1000 ms");
      report(`its content is shown after`, `${content} ms`, "no budget");
      report(`processor time of the main thread until 3 s later, not throttled`, `${load} ms`, "no budget");
    }
    if (!parts.includes("scrolling")) return;
    const scrolled = await measureScrolling(browser, service, async (page) => {
      await serveLongRun(page, run);
      await page.goto(new URL(`/runs/${run}`, page.url()).href);
      await page.locator(".terminal-text").first().waitFor();
    });
    reportScrolling("run of 5,000 messages and 10 MB of output", scrolled);
    const listed = await measureScrolling(browser, service, async (page) => {
      await serveLongList(page);
      await page.goto(new URL("/runs", page.url()).href);
      await page.locator(".run-row").first().waitFor();
    });
    reportScrolling("list of 10,000 runs", listed);
  } finally {
    await browser.close();
  }
}

function report(name: string, value: string, budget: string): void {
  process.stdout.write(`${name}: ${value} (${budget})\n`);
}

function reportScrolling(name: string, scrolled: Scrolled): void {
  const { framesPerSecond, slowestMs, p95Ms, pixels, perFrame } = scrolled;
  const times = `${Math.round(p95Ms)} ms for 95 of 100 frames, ${Math.round(slowestMs)} ms for the slowest`;
  const what = `scrolling ${Math.round(pixels).toLocaleString("en")} pixels of a ${name}`;
  report(what, `${Math.round(framesPerSecond)} frames/s, ${times}`, "≥ 55 frames/s");
  report(`processor time of the main thread per frame of it`, `${perFrame.toFixed(1)} ms`, "≤ 18 ms");
}

function parseOptions(args: string[]): Options | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        rounds: { type: "string", default: "5" },
        only: { type: "string" },
        help: { type: "boolean", default: false, short: "h" },
      },
    });
    if (values.help) return HELP;
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) return "--rounds takes a whole number from 1 to 100";
    if (values.only === undefined) return { rounds, parts: Part.options };
    const only = v.safeParse(Part, values.only);
    return only.success ? { rounds, parts: [only.output] } : "--only takes loading or scrolling";
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n\n${HELP}`;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
