/** `npm run lab -- VERB`: measurements and campaigns, which are not part of CI. */
import { runVerb, type Toolbox } from "../scripts/run-verb.ts";

export const LAB: Toolbox = {
  command: "npm run lab",
  summary: "Measurements and campaigns, which are not part of CI. VERB --help says more about most.",
  verbs: {
    bench: { file: "lab/bench/single-machine.ts", summary: "measures a single machine against its budgets" },
    "bench-emulator": { file: "lab/bench/bench.ts", summary: "measures the deployment on the AWS emulator" },
    "bench-live": { file: "lab/bench/live-output.ts", summary: "measures how late live output reaches readers" },
    "bench-listing": { file: "lab/bench/listing.ts", summary: "measures lists of up to 100,000 runs" },
    "bench-day": {
      file: "lab/bench/simulated-day.ts",
      summary: "lets a service live through 24 hours in minutes",
      nodeOptions: ["--expose-gc"],
    },
    "bench-repositories": {
      file: "lab/bench/repositories.ts",
      summary: "measures clones of a large repository, with mirrors",
    },
    scale: { file: "lab/scale/scale.ts", summary: "simulates rates of runs within the limits of DynamoDB" },
    "bench-web": { file: "test/web/budgets/main.ts", summary: "measures the speed of the web app" },
    screenshots: { file: "test/web/gallery/main.ts", summary: "takes pictures of every page of the web app" },
    chaos: { file: "lab/chaos/chaos.ts", summary: "kills processes under load and checks what is stored" },
    deliveries: {
      file: "lab/deliveries/deliveries.ts",
      summary: "sends 10,000 events to triggers of a service that is killed, and measures the ingress",
    },
    attack: { file: "lab/attack.ts", summary: "attacks the host from sandboxes at random" },
    drill: { file: "lab/drill.ts", summary: "rehearses docs/aws.md on the AWS emulator" },
    mutate: { file: "lab/mutate.ts", summary: "changes the code in small ways and runs the nearest tests" },
    "mutate-planted": { file: "lab/mutate-planted.ts", summary: "plants twenty bugs at random and runs the tests" },
    "mutate-conditions": {
      file: "lab/mutate-conditions.ts",
      summary: "removes the conditions of transactions in turn",
    },
    sentences: {
      file: "lab/sentences.ts",
      summary: "breaks sentences of the API's contract in the code, and runs their tests",
    },
    eval: { file: "lab/eval.ts", summary: "executes tasks with a checker by agents, with or without a model" },
    agent: { file: "test/harness/tokens/main.ts", summary: "counts the tokens of recorded tasks of the agent" },
    counts: { file: "lab/counts.ts", summary: "counts files and lines, and the files that commits edit by hand" },
    "agent-try": { file: "lab/agent-try.ts", summary: "tries the built-in agent with a real model" },
  },
};

if (import.meta.main) process.exitCode = await runVerb(LAB, process.argv.slice(2));
