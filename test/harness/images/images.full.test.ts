import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { listBusyboxFiles } from "../../support/busybox-image.ts";
import { type LayerFile, type Registry, startRegistry } from "../../support/image-registry.ts";
import { runHarness } from "../support/run-harness.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 });

const CREDENTIALS = { username: "acme", password: "s3cret-of-the-registry" };
const createDirectory = () => mkdtempSync(join(tmpdir(), "runyard-images-"));
const block = (text: string, tag = "sh") => `\`\`\`${tag}\n${text}\n\`\`\`\n`;
const outputs = ({ messages }: FakeControlPlane) =>
  messages.flatMap(({ content }) => content.flatMap((one) => (one.type === "action_result" ? [one.output] : [])));
const shown = (plane: FakeControlPlane) =>
  outputs(plane)
    .map((output) => (typeof output === "object" && output !== null && "stdout" in output ? String(output.stdout) : ""))
    .join("");
const timeline = ({ events }: FakeControlPlane) =>
  events.flatMap(({ event_name, payload }) =>
    event_name === "setup_environment_resolution" ? [String(payload?.["detail"])] : [],
  );

let registry: Registry;
/** Where the harness keeps images, and another place where it has none yet. */
let [directory, emptyDirectory] = ["", ""];

beforeAll(async () => {
  registry = await startRegistry(CREDENTIALS);
});
afterAll(async () => registry[Symbol.asyncDispose]());
beforeEach(() => {
  [directory, emptyDirectory] = [createDirectory(), createDirectory()];
});
afterEach(() => {
  for (const one of [directory, emptyDirectory]) rmSync(one, { recursive: true });
});

const settings = (more: object = CREDENTIALS) => ({
  RUNYARD_IMAGES: directory,
  RUNYARD_REGISTRIES: JSON.stringify([{ host: registry.host, private: true, insecure: true, ...more }]),
});
const start = (name: string, prompt: string, context: RunGiven["context"] = {}) =>
  FakeControlPlane.start({ prompt, context: { docker_image: `${registry.host}/${name}`, ...context } });
const run = async (plane: FakeControlPlane, environment: Record<string, string> = settings()) => {
  const { code, log } = await runHarness(plane, environment);
  expect(code, log).toBe(0);
  expect(log).not.toContain(CREDENTIALS.password);
  return { log, ...plane.outcome };
};
const manifests = () => registry.requests.filter(({ path }) => path.includes("/manifests/")).length;

describe("a run with an image of musl and busybox", () => {
  let digest: string;
  beforeAll(() => {
    const musl = readdirSync("/lib").find((name) => name.startsWith("ld-musl-")) ?? "";
    digest = registry.put("acme/tools:1", {
      layers: [
        [
          ...listBusyboxFiles(),
          { name: "lib/" },
          { name: `lib/${musl}`, mode: 0o755, content: readFileSync(join("/lib", musl)) },
        ],
        [{ name: "app/" }, { name: "app/greeting", content: "hello from the image\n" }],
      ],
      config: { Env: ["PATH=/bin", "COLOR=blue green", "HOME=/nowhere", "RUNYARD_RUN_ID=forged"], WorkingDir: "/app" },
    });
  });

  it("runs its commands in the image by sh, and says in the timeline what the image is and lacks", async () => {
    const prompt =
      block(
        "cat greeting; pwd; id -u; echo $COLOR $HOME $RUNYARD_RUN_ID; ls /usr || true; git --version || echo no git",
      ) +
      block(
        "touch /app/new && echo written; /lib/ld-musl-* 2>&1 || true; env; cat /etc/passwd /proc/1/cmdline; ls /; cat /proc/mounts",
      );
    await using plane = await start("acme/tools:1", prompt, { variables: { COLOR: "red" } });
    expect(await run(plane)).toMatchObject({ success: true });
    const text = shown(plane);
    expect(text).toContain(`hello from the image\n/app\n0\nred /home/agent ${plane.runId}\n`);
    expect(text).toContain("no git\n");
    expect(text).toContain("written\nmusl libc");
    expect(text).toContain("root:x:0:0:root:/root");
    for (const secret of [CREDENTIALS.password, directory, "RUNYARD_REGISTRIES"]) expect(text).not.toContain(secret);
    const [detail = ""] = timeline(plane);
    expect(detail).toContain(`image ${registry.host}/acme/tools:1 @ ${digest}, pulled `);
    expect(detail).toContain("it has no bash, so commands run in sh; it has no git");
  });

  it("keeps files, artifacts and the working directory, and reports failures and exit codes as with bash", async () => {
    const setup = ["echo $COLOR > /workspace/set-up"];
    const prompt = [
      block('cd /workspace; cat set-up; mkdir -p sub output; echo "a b" > output/result.txt; cd sub'),
      block("pwd; exec 3>&-; echo $0"),
      block("false | true; echo not reached"),
    ].join("");
    await using plane = await start("acme/tools:1", prompt, { setup_commands: setup });
    expect(await run(plane)).toMatchObject({ success: false });
    expect(shown(plane)).toContain("blue green\n/workspace/sub\n");
    expect(shown(plane)).not.toContain("not reached");
    expect(plane.artifacts.get("result.txt")?.toString()).toBe("a b\n");
  });

  it("lets commands change its root as root would, until the execution ends", async () => {
    const prompt = [
      block(
        "rm /app/greeting; mkdir /data; echo one > /usr-made; echo 10.1.2.3 known >> /etc/hosts; chown -R 5:6 /data",
      ),
      block("ls /app /data; cat /usr-made; grep -c known /etc/hosts; busybox rm -r /app; mkdir /app; ls /app"),
    ].join("");
    await using plane = await start("acme/tools:1", prompt);
    expect(await run(plane)).toMatchObject({ success: true });
    expect(shown(plane)).toBe("/app:\n\n/data:\none\n1\n");
    await using other = await start("acme/tools:1", block("cat /app/greeting; ls / | grep made || echo clean"));
    await run(other);
    expect(shown(other)).toBe("hello from the image\nclean\n");
  });

  it("keeps what its commands see other things at, so that no link decides where these are mounted", async () => {
    const names = ["tmp", "dev", "proc", "workspace", "home", "home/agent", "run", "run/runyard"];
    const exchange = names.map(
      (name) => `mv /${name} /moved 2>/dev/null || rmdir /${name} 2>/dev/null || echo ${name}`,
    );
    await using plane = await start("acme/tools:1", block(exchange.join("\n")));
    expect(await run(plane)).toMatchObject({ success: true });
    expect(shown(plane)).toBe(`${names.join("\n")}\n`);
  });

  it("brings the changes of its root back in a later execution of the run", async () => {
    const change = "echo kept > /etc/kept; rm -r /app; mkdir /app; echo new > /app/new; echo x > /workspace/x";
    await using plane = await start("acme/tools:1", block(change));
    await run(plane);
    plane.addFollowup(block("cat /etc/kept; ls /app; cat /workspace/x"));
    await run(plane);
    expect(shown(plane)).toBe("kept\nnew\nx\n");
  });

  it("goes on without a directory that it has removed, and that the harness writes to where it exists", async () => {
    registry.put("acme/apt:1", { layers: [[...listBusyboxFiles(), { name: "etc/apt/apt.conf.d/" }]] });
    await using plane = await start("acme/apt:1", block("rm -r /etc/apt; echo x > /workspace/x"));
    await run(plane);
    plane.addFollowup(block("test -e /etc/apt || echo removed; test -e /etc/resolv.conf && echo kept"));
    expect(await run(plane)).toMatchObject({ success: true });
    expect(shown(plane)).toBe("removed\nkept\n");
  });

  it("ends a command whose changes of the root exceed the disk of a run, and removes them", async () => {
    const prompt = block(
      "for i in 1 2 3 4 5 6 7 8 9; do dd if=/dev/zero of=/usr-$i bs=1M count=10 2>/dev/null; sleep 1; done",
    );
    await using plane = await start("acme/tools:1", prompt);
    await run(plane, { ...settings(), RUNYARD_RUN_DISK_MIB: "50", RUNYARD_RUN_FILE_SYSTEM: "shared" });
    expect(
      outputs(plane)
        .map((output) => JSON.stringify(output))
        .join(),
    ).toMatch(/50 MiB/);
  });

  it("runs background commands, which later commands reach", async () => {
    const server = "while true; do echo ok | nc -l -p 8123; done";
    const client = "for i in 1 2 3 4 5 6 7 8 9; do nc 127.0.0.1 8123 && break; sleep 1; done";
    await using plane = await start("acme/tools:1", block(server, "sh background") + block(client));
    expect(await run(plane)).toMatchObject({ success: true });
    expect(shown(plane)).toContain("ok\n");
  });

  it("asks the registry for a tag at most every few minutes, and unpacks each digest once", async () => {
    await using first = await start("acme/tools:1", block("true"));
    await run(first);
    const asked = manifests();
    await using second = await start("acme/tools:1", block("cat greeting"));
    await run(second);
    expect(manifests()).toBe(asked);
    expect(timeline(second)[0]).toContain(`@ ${digest}, on this machine since`);
    expect(readdirSync(directory).filter((name) => /^sha256-[0-9a-f]+$/.test(name))).toEqual([
      digest.replace(":", "-"),
    ]);
  });

  it("has the same digest in later executions of the run, and the new one in other runs", async () => {
    const tag = (text: string) =>
      registry.put("acme/moving:1", { layers: [[...listBusyboxFiles(), { name: "which", content: text }]] });
    const old = tag("old\n");
    await using plane = await start("acme/moving:1", block("cat /which"));
    await run(plane);
    const current = tag("new\n");
    await run(plane);
    await using other = await start("acme/moving:1", block("cat /which"));
    const unchecked = { ...settings(), RUNYARD_IMAGES: emptyDirectory };
    await run(other, unchecked);
    expect(timeline(plane).map((detail) => detail.includes(old))).toEqual([true, true]);
    expect(timeline(other)[0]).toContain(current);
    expect(shown(other)).toBe("new\n");
  });

  it("fails without the right credentials, even if the image is on this machine", async () => {
    await using allowed = await start("acme/tools:1", block("true"));
    await run(allowed);
    for (const wrong of [{}, { username: "acme", password: "guess" }]) {
      await using plane = await start("acme/tools:1", block("cat greeting"));
      const { success, summary } = await run(plane, settings({ username: undefined, password: undefined, ...wrong }));
      expect([success, summary]).toEqual([
        false,
        expect.stringMatching(/docker_image .* could not be used: .*(unauthorized|authentication required|denied)/i),
      ]);
      expect(outputs(plane)).toEqual([]);
    }
  });

  it("is pulled with the credentials in a secret of the run, which commands do not get", async () => {
    const { username, password } = CREDENTIALS;
    const auth = Buffer.from(`${username}:${password}`).toString("base64");
    const value = JSON.stringify({ auths: { [registry.host]: { auth } } });
    const secrets = [
      { name: "DOCKER_AUTH_CONFIG", value },
      { name: "OTHER", value: "other value" },
    ];
    await using plane = await start("acme/tools:1", block("cat greeting; env"), { secrets });
    const without = settings({ username: undefined, password: undefined });
    expect(await run(plane, without)).toMatchObject({ success: true });
    expect(shown(plane)).toContain("hello from the image\n");
    expect(shown(plane)).toContain("OTHER=");
    expect(shown(plane)).not.toContain("DOCKER_AUTH_CONFIG");
    await using wrong = await start("acme/tools:1", block("true"), {
      secrets: [{ name: "DOCKER_AUTH_CONFIG", value: value.slice(1) }],
    });
    expect((await run(wrong)).summary).toContain("the secret DOCKER_AUTH_CONFIG must be JSON");
  });

  it("starts from this machine if the registry does not respond, and says so", async () => {
    await using first = await start("acme/tools:1", block("true"));
    await run(first);
    const tag = readdirSync(directory).filter((name) => name.endsWith(".tag"));
    expect(tag.length).toBeGreaterThan(0);
    registry.respond((_, response) => void response.writeHead(503).end());
    try {
      await using plane = await start("acme/tools:1", block("cat greeting"));
      await expireTags(directory);
      expect(await run(plane)).toMatchObject({ success: true });
      expect(timeline(plane)[0]).toMatch(/on this machine since .*; its registry did not answer: /);
      await using other = await start("acme/absent:1", block("true"));
      expect(await run(other)).toMatchObject({ success: false });
    } finally {
      registry.respond(undefined);
    }
  });

  it("fails with the reason for an image without a shell, and for a third-party harness", async () => {
    registry.put("acme/empty:1", { layers: [[{ name: "etc/" }]] });
    await using empty = await start("acme/empty:1", block("true"));
    expect((await run(empty)).summary).toContain("it has no /bin/sh, which commands need");
    await using agent = await start("acme/tools:1", "Say hello.", { agent_config: { harness: { type: "claude" } } });
    expect((await run(agent)).summary).toContain("the harness claude does not run in a docker_image on this machine");
  });

  it("takes the image for this machine from a list for several platforms, whose digest it names", async () => {
    const list = registry.put("acme/list:1", { layers: [listBusyboxFiles()], isList: true });
    await using plane = await start("acme/list:1", block("echo listed"), { network: { mode: "none" } });
    expect(await run(plane)).toMatchObject({ success: true });
    expect([shown(plane), timeline(plane)[0]]).toEqual(["listed\n", expect.stringContaining(`@ ${list}, pulled`)]);
    await using pinned = await start(`acme/list@${list}`, block("echo pinned"));
    expect(await run(pinned)).toMatchObject({ success: true });
  });

  it("fails without bubblewrap", async () => {
    await using plane = await start("acme/tools:1", block("true"));
    expect((await run(plane, { ...settings(), RUNYARD_SANDBOX: "none" })).summary).toContain("needs bubblewrap");
    expect(outputs(plane)).toEqual([]);
  });
});

/** Lets the registry's earlier answers be too old to count. */
async function expireTags(folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".tag"))) {
    const record = JSON.parse(readFileSync(join(folder, name), "utf8"));
    await writeFile(join(folder, name), JSON.stringify({ ...record, checked_at: 0 }));
  }
}

describe("a run with an image whose only program is dash", () => {
  it("runs setup commands of several lines, and says how one ended", async () => {
    const libraries = execFileSync("ldd", ["/bin/dash"], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
    const copy = (name: string, from: string): LayerFile => ({ name, mode: 0o755, content: readFileSync(from) });
    const files = [copy("bin/sh", "/bin/dash"), ...libraries.map((path) => copy(path.slice(1), path))];
    registry.put("acme/dash:1", { layers: [files] });
    const first = "echo one > /workspace/lines\necho two >> /workspace/lines";
    await using plane = await start("acme/dash:1", block("while read line; do echo $line; done < lines"), {
      setup_commands: [first],
    });
    expect(await run(plane)).toMatchObject({ success: true });
    expect(shown(plane)).toBe("one\ntwo\n");
    await using failing = await start("acme/dash:1", block("true"), { setup_commands: ["echo one\nfalse"] });
    expect(await run(failing)).toMatchObject({
      success: false,
      summary: expect.stringContaining("ended with exit code 1"),
    });
  });
});

describe("a run with an image of Debian", () => {
  it("runs its commands in bash and with the libc of the image, and installs packages of the system", async () => {
    const PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
    const options = { env: { PATH }, maxBuffer: 1024 * 1024 * 1024 };
    const mode = process.getuid?.() === 0 ? "--mode=root" : "--mode=unshare";
    const tar = execFileSync("mmdebstrap", ["--variant=apt", mode, "bookworm", "-"], options);
    registry.put("acme/debian:12", { layers: [tar], config: { Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] } });
    // It has a user of its own, and files of another group.
    const install = "apt-get -qq update && apt-get -qq install --no-install-recommends jq dbus >/dev/null";
    const prompt =
      block('echo "${BASH_VERSION%%.*} $(cut -d. -f1 /etc/debian_version)"; pwd') +
      block("echo '{\"a\":1}' | jq .a; id -un messagebus; echo local > /usr/local/bin/made; dpkg --audit");
    await using plane = await start("acme/debian:12", prompt, {
      setup_commands: [install],
      variables: { DEBIAN_FRONTEND: "noninteractive" },
    });
    const { success, summary } = await run(plane);
    expect([success, shown(plane)], summary).toEqual([true, "5 12\n/workspace\n1\nmessagebus\n"]);
    expect(timeline(plane)[0]).toMatch(/pulled \d+ MB in \d+ s; it has no git$/);
  });
});
