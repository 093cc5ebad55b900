import { expect, it } from "vitest";
import { artifactName } from "../../web/run/artifacts/artifact-name.ts";

it.each([
  [{ artifact_type: "FILE", title: "Report", filename: "report.pdf" }, "Report"],
  [{ artifact_type: "FILE", title: "", filename: "report.pdf", description: "d" }, "report.pdf"],
  [{ artifact_type: "SCREENSHOT", description: "The cart" }, "The cart"],
  [{ artifact_type: "SCREENSHOT", description: " " }, "Screenshot"],
  [{ artifact_type: "PLAN", title: "\n" }, "Plan"],
  [{ artifact_type: "PULL_REQUEST" }, "Pull request"],
])("artifactName of %j is %s", (artifact, name) => {
  expect(artifactName(artifact)).toBe(name);
});
