import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { listBusyboxFiles } from "../../support/busybox-image.ts";
import { type Registry, startRegistry } from "../../support/image-registry.ts";
import { runHarness } from "../support/run-harness.ts";

vi.setConfig({ testTimeout: 120_000 });

const block = (text: string, tag = "sh") => `\`\`\`${tag}\n${text}\n\`\`\`\n`;
const outputs = ({ messages }: FakeControlPlane) =>
  messages.flatMap(({ content }) => content.flatMap((one) => (one.type === "action_result" ? [one.output] : [])));
const timeline = ({ events }: FakeControlPlane) =>
  events.flatMap(({ event_name, payload }) =>
    event_name === "setup_environment_resolution" ? [String(payload?.["detail"])] : [],
  );

describe("a run with an image of musl and busybox", () => {
  let registry: Registry;
  let directory: string;
  let digest: string;
  const settings = () => ({
    RUNYARD_IMAGES: directory,
    RUNYARD_REGISTRIES: JSON.stringify([{ host: registry.host, private: true, insecure: true }]),
  });
  const start = (prompt: string, context: RunGiven["context"] = {}) =>
    FakeControlPlane.start({ prompt, context: { docker_image: `${registry.host}/acme/tools:1`, ...context } });

  beforeAll(async () => {
    registry = await startRegistry();
    directory = mkdtempSync(join(tmpdir(), "runyard-images-"));
    digest = registry.put("acme/tools:1", {
      layers: [listBusyboxFiles(), [{ name: "app/" }, { name: "app/greeting", content: "hello from the image\n" }]],
      config: { Env: ["PATH=/bin", "COLOR=blue green"], WorkingDir: "/app" },
    });
  });
  afterAll(async () => registry[Symbol.asyncDispose]());

  it("runs its commands in the image by sh, and says in the timeline what the image is and lacks", async () => {
    const prompt = block(
      "cat greeting; pwd; id -u; echo $COLOR $0; ls /usr 2>&1 || true; git --version || echo no git",
    );
    await using plane = await start(prompt);
    const { code, log } = await runHarness(plane, settings());
    expect([code, plane.outcome?.success], log + JSON.stringify(plane.outcome)).toEqual([0, true]);
    expect(outputs(plane)).toEqual([
      expect.objectContaining({
        stdout: expect.stringMatching(
          /^hello from the image\n\/app\n1000\nblue green .*\nls: \/usr: No such file or directory\n.*no git\n$/s,
        ),
      }),
    ]);
    const [detail = ""] = timeline(plane);
    console.log(
      JSON.stringify(plane.events.map((e) => [e.event_name, e.payload])),
      JSON.stringify(outputs(plane)),
      registry.requests.map((r) => r.path),
    );
    expect(detail).toContain(`image ${registry.host}/acme/tools:1 @ ${digest}, pulled `);
    expect(detail).toContain("it has no bash, so commands run in sh; it has no git");
  });
});
