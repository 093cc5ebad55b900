import { describe, expect, it } from "vitest";
import { type Admissible, type Admission, LoadShedder } from "#server/http/load-shedder.ts";

const MIB = 1024 * 1024;

const request = (more: Partial<Admissible> = {}): Admissible => ({
  caller: "ada",
  isExecution: false,
  isWaiting: false,
  ...more,
});
/** Admits a request whose body has arrived; undefined if it is refused. */
function begin(shedder: LoadShedder, one: Admissible): Admission | undefined {
  const admission = shedder.admit(one);
  return admission?.begin() === true ? admission : undefined;
}
/** Begins requests until one is refused, at most 5,000; returns the number of those that began. */
function fill(shedder: LoadShedder, next: (index: number) => Admissible): number {
  for (let count = 0; count < 5_000; count++) if (begin(shedder, next(count)) === undefined) return count;
  return 5_000;
}

describe("LoadShedder", () => {
  it("refuses the requests of one caller before those of others", () => {
    const shedder = new LoadShedder(() => 0);
    expect(fill(shedder, () => request())).toBe(64);
    expect(shedder.admit(request({ caller: "bob" }))).toBeDefined();
  });

  it("admits a caller again after a request has ended", () => {
    const shedder = new LoadShedder(() => 0);
    const [first] = [begin(shedder, request()), fill(shedder, () => request())];
    expect(shedder.admit(request())).toBeUndefined();
    first?.release();
    expect(begin(shedder, request())).toBeDefined();
    expect(shedder.admit(request())).toBeUndefined();
  });

  it("counts a request from the arrival of its body on, so that bodies that never arrive take no place", () => {
    const shedder = new LoadShedder(() => 0);
    const [early] = Array.from({ length: 5_000 }, () => shedder.admit(request()));
    expect(fill(shedder, () => request())).toBe(64);
    expect(early?.begin()).toBe(false);
    early?.release();
    expect(shedder.admit(request())).toBeUndefined();
  });

  it("limits the requests of all callers together", () => {
    const shedder = new LoadShedder(() => 0);
    expect(fill(shedder, (index) => request({ caller: `caller ${index}` }))).toBe(256);
  });

  it("admits executions whatever callers do, and however late the event loop is", () => {
    let delay = 0;
    const shedder = new LoadShedder(() => delay);
    fill(shedder, (index) => request({ caller: `caller ${index}` }));
    delay = 10_000;
    expect(fill(shedder, () => request({ isExecution: true }))).toBe(1_024);
  });

  it("admits few requests of each caller while the event loop is late, and none while it is far too late", () => {
    let delay = 150;
    const shedder = new LoadShedder(() => delay);
    expect(fill(shedder, () => request())).toBe(8);
    expect(fill(shedder, () => request({ caller: "bob" }))).toBe(8);
    delay = 1_500;
    expect(shedder.admit(request({ caller: "eve" }))).toBeUndefined();
    expect(shedder.admit(request({ isWaiting: true }))).toBeUndefined();
    delay = 0;
    expect(shedder.admit(request({ caller: "eve" }))).toBeDefined();
  });

  it("admits one request at a time while the event loop is far too late, because refusing all would not make it faster", () => {
    const shedder = new LoadShedder(() => 60_000);
    expect(shedder.admit(request({ isWaiting: true }))).toBeUndefined();
    const [first, second] = [shedder.admit(request()), shedder.admit(request({ caller: "bob" }))];
    expect([first?.begin(), second?.begin()]).toEqual([true, false]);
    expect(shedder.admit(request({ caller: "eve" }))).toBeUndefined();
    first?.release();
    expect(begin(shedder, request({ caller: "eve" }))).toBeDefined();
  });

  it("does not count requests that wait for events", () => {
    const shedder = new LoadShedder(() => 0);
    expect(fill(shedder, () => request({ isWaiting: true }))).toBe(5_000);
    expect(fill(shedder, () => request())).toBe(64);
  });

  it("limits the bytes of all bodies that have arrived, and keeps a quarter for executions", () => {
    const shedder = new LoadShedder(() => 0);
    const [first, second, third, late] = ["a", "b", "c", "d"].map((caller) => shedder.admit(request({ caller })));
    const execution = shedder.admit(request({ caller: "e", isExecution: true }));
    expect([first, second, third].map((one) => one?.receive(64 * MIB))).toEqual([true, true, true]);
    expect([late?.receive(1), execution?.receive(64 * MIB)]).toEqual([false, true]);
    first?.release();
    expect([first?.receive(1), late?.receive(1)]).toEqual([false, false]);
    second?.release();
    expect(late?.receive(64 * MIB)).toBe(true);
  });

  it.each([
    ["a caller", false],
    ["an execution", true],
  ])("limits the bytes of all bodies of %s, so that there is room for those of others", (_, isExecution) => {
    const shedder = new LoadShedder(() => 0);
    const [first, second] = [shedder.admit(request({ isExecution })), shedder.admit(request({ isExecution }))];
    expect([first?.receive(60 * MIB), second?.receive(4 * MIB), second?.receive(1)]).toEqual([true, true, false]);
    expect(shedder.admit(request({ caller: "bob", isExecution }))?.receive(64 * MIB)).toBe(true);
    first?.release();
    expect(second?.receive(60 * MIB)).toBe(true);
  });
});
