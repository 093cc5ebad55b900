import { existsSync } from "node:fs";
import { join } from "node:path";
import { App, Validations } from "aws-cdk-lib";
import { lookUpAccountConcurrency } from "./account-quota.ts";
import { bundle } from "./bundle.ts";
import { readSettings } from "./read-settings.ts";
import { runyard } from "./runyard.ts";

const app = new App({ analyticsReporting: false });
const isConfigured = app.node.tryGetContext("accountConcurrency") !== undefined;
const isLocal = app.node.tryGetContext("stage") === "local";
const accountConcurrency = isConfigured || isLocal ? undefined : await lookUpAccountConcurrency(process.env);
const settings = readSettings(app.node, { accountConcurrency });
const webDir = join(import.meta.dirname, "../dist/web");
const functions = bundle({ stage: settings.stage });
runyard(app, { settings, bundle: functions, ...(existsSync(join(webDir, "index.html")) && { webDir }) });

if (settings.stage === "aws") {
  // Not loaded by the local cloud, which must start quickly; its findings show in CI.
  const { acknowledge } = await import("./acknowledgements.ts");
  const { AwsSolutionsChecks } = await import("cdk-nag");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  acknowledge(app, settings);
} else {
  // CDK's own check of the templates takes as long as the rest of the synthesis; likewise.
  process.env["CDK_VALIDATION"] = "false";
}
app.synth();
