import { describe, expect, it } from "vitest";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { runHarness } from "../harness/support/run-harness.ts";

const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;

const unsavedIn = (plane: FakeControlPlane): string[] =>
  plane.events
    .filter(({ event_name }) => event_name === "checkpoint_saved")
    .map(({ payload }) => `${payload?.is_error} ${payload?.detail}`);

describe("a sparse file in a workspace", () => {
  it.each(["9G", "4200M"])(
    "of %s does not block a run: the workspace is not saved, and the timeline says so",
    async (size) => {
      await using plane = await FakeControlPlane.start({ prompt: sh(`echo kept > file; truncate -s ${size} hole`) });
      const begin = Date.now();
      const { code, log } = await runHarness(plane);
      expect([code, plane.outcome], log).toMatchObject([0, { success: true }]);
      expect(Date.now() - begin).toBeLessThan(100_000);
      expect(plane.callsTo("upload-snapshot")).toEqual([]);
      expect(log).toContain("including holes of sparse files");
      expect(unsavedIn(plane), "one event, regardless of the number of attempts").toEqual([
        expect.stringMatching(/^true not saved: the files of the workspace have more than 4294967296 bytes/),
      ]);
    },
  );

  it("is packed without its holes below the limit, and is sparse again in the next execution", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh("truncate -s 3G hole && printf end | dd of=hole bs=1 seek=3221225469 conv=notrunc status=none"),
    });
    const begin = Date.now();
    await runHarness(plane);
    expect(Date.now() - begin).toBeLessThan(100_000);
    expect(plane.savedFile("workspace.tar.gz")?.length).toBeLessThan(100_000);
    plane.outcome = undefined;
    plane.addFollowup(sh("tail -c 3 hole; stat -c %s hole; test $(stat -c %b hole) -lt 1000 && echo sparse"));
    await runHarness(plane);
    expect(plane.outputs.at(-1)).toBe("end3221225472\nsparse\n");
  });

  it.each(["truncate -s 9G a b c", "for i in $(seq 40); do truncate -s 200M part$i; done"])(
    "counts together with the others: %s",
    async (command) => {
      await using plane = await FakeControlPlane.start({ prompt: sh(command) });
      const { log } = await runHarness(plane);
      expect(plane.callsTo("upload-snapshot")).toEqual([]);
      expect(log).toContain("no checkpoint was saved");
      expect(plane.outcome).toMatchObject({ success: true });
    },
  );
});
