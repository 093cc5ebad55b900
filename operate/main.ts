/** `npm run aws -- VERB`: commands for the operators of a deployment. */
import { runVerb, type Toolbox } from "../scripts/run-verb.ts";

export const AWS: Toolbox = {
  command: "npm run aws",
  summary:
    "Commands for the operators of a deployment on AWS, with your AWS credentials. VERB --help says more about most.",
  verbs: {
    doctor: { file: "operate/doctor-aws.ts", summary: "checks an account before the first deployment" },
    bootstrap: { file: "operate/bootstrap.ts", summary: "creates the first team and its admin, and prints their key" },
    smoke: { file: "operate/smoke.ts", summary: "checks a running service with runs of its own" },
    "try-sandbox": { file: "operate/try-sandbox.ts", summary: "compares a sandbox provider with AWS's documentation" },
    redrive: { file: "operate/redrive.ts", summary: "sends dead letters to their queues again" },
    export: { file: "operate/export-aws.ts", summary: "exports the table and the bucket for a single machine" },
    import: { file: "operate/import-aws.ts", summary: "imports the export of a single machine" },
    vault: {
      file: "operate/vault.ts",
      summary: "rotates the keys of secrets, and moves former secrets into the table",
    },
    "github-app": { file: "operate/github-app.ts", summary: "stores the keys of the deployment's GitHub App" },
    cost: { file: "operate/cost.ts", summary: "computes the cost of an idle month and of a run of ten minutes" },
  },
};

if (import.meta.main) process.exitCode = await runVerb(AWS, process.argv.slice(2));
