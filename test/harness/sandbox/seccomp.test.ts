import { describe, expect, it } from "vitest";
import { buildSeccompFilter } from "#harness/isolation/seccomp.ts";

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;

/** Evaluates the filter for a system call as the kernel does, and returns its decision. */
function evaluateFilter(filter: Buffer, audit: number, number: number, ...args: number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, argument] of args.entries()) data.writeUInt32LE(argument >>> 0, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(8 * at);
    const [ifTrue, ifFalse, value] = [
      filter[8 * at + 2] ?? 0,
      filter[8 * at + 3] ?? 0,
      filter.readUInt32LE(8 * at + 4),
    ];
    const jump = (holds: boolean) => {
      at += holds ? ifTrue : ifFalse;
    };
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else throw new Error(`there is no instruction ${code}`);
  }
  throw new Error("the filter has no end");
}

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;

describe.each([
  [
    "x64",
    X64,
    {
      read: 0,
      write: 1,
      socket: 41,
      ioctl: 16,
      clone: 56,
      unshare: 272,
      keyctl: 250,
      mount: 165,
      bpf: 321,
      ptrace: 101,
      execve: 59,
    },
    [
      103, 153, 155, 161, 163, 164, 165, 166, 167, 168, 169, 172, 173, 175, 176, 179, 212, 227, 246, 248, 249, 250, 298,
      300, 304, 308, 312, 313, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442,
    ],
    [92, 93, 94, 105, 106, 113, 114, 116, 117, 119, 122, 123, 126, 260],
  ],
  [
    "arm64",
    ARM64,
    {
      read: 63,
      write: 64,
      socket: 198,
      ioctl: 29,
      clone: 220,
      unshare: 97,
      keyctl: 219,
      mount: 40,
      bpf: 280,
      ptrace: 117,
      execve: 221,
    },
    [
      18, 39, 40, 41, 51, 58, 60, 89, 104, 105, 106, 112, 116, 142, 170, 217, 218, 219, 224, 225, 241, 262, 265, 268,
      272, 273, 280, 282, 294, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442,
    ],
    [54, 55, 91, 143, 144, 145, 146, 147, 149, 151, 152, 159],
  ],
] as const)("the seccomp filter on %s", (architecture, audit, calls, refused, ignored) => {
  const filter = buildSeccompFilter({ architecture }) ?? Buffer.alloc(0);
  const evaluate = (number: number, ...args: number[]) => evaluateFilter(filter, audit, number, ...args);

  it("allows what programs need", () => {
    expect([calls.read, calls.write, calls.ptrace, calls.execve].map((call) => evaluate(call))).toEqual([
      ALLOWED,
      ALLOWED,
      ALLOWED,
      ALLOWED,
    ]);
    for (const family of [1, 2, 10, 16]) expect(evaluate(calls.socket, family)).toBe(ALLOWED);
    expect(evaluate(calls.ioctl, 0, 0x5401)).toBe(ALLOWED);
    // A thread, a fork, and a private descriptor table.
    for (const flags of [0x3d0f00, 0x1200011]) expect(evaluate(calls.clone, flags)).toBe(ALLOWED);
    expect(evaluate(calls.unshare, 0x400)).toBe(ALLOWED);
  });

  it("refuses keys, mounts, user namespaces, terminal input and unusual sockets", () => {
    for (const call of [calls.keyctl, calls.mount, calls.bpf, 425, 430]) expect(evaluate(call)).toBe(EPERM);
    for (const call of [calls.clone, calls.unshare]) expect(evaluate(call, 0x10000000 | 0x11)).toBe(EPERM);
    for (const request of [0x5412, 0x541c]) expect(evaluate(calls.ioctl, 1, request)).toBe(EPERM);
    for (const family of [0, 17, 38, 40]) expect(evaluate(calls.socket, family)).toBe(EAFNOSUPPORT);
    expect(evaluate(435)).toBe(ENOSYS);
  });

  it("refuses with EPERM exactly the calls for keys, mounts, kernel internals and the machine itself", () => {
    const numbers = Array.from({ length: 600 }, (_, number) => number);
    expect(numbers.filter((number) => evaluate(number) === EPERM)).toEqual(refused);
    const others = numbers.filter((number) => ![...refused, calls.socket, 435].includes(number));
    expect(others.filter((number) => evaluate(number) !== ALLOWED)).toEqual([]);
  });

  it("lets changes of owners and users succeed without an effect where a command acts as root, and refuses the same", () => {
    const root = buildSeccompFilter({ architecture, actsAsRoot: true }) ?? Buffer.alloc(0);
    const numbers = Array.from({ length: 600 }, (_, number) => number);
    const without = (errno: number) =>
      numbers.filter((number) => evaluateFilter(root, audit, number) === 0x00050000 + errno);
    expect(without(0)).toEqual(ignored);
    expect(without(1)).toEqual(refused);
  });

  it("refuses calls of another architecture, whose numbers mean other calls", () => {
    for (const other of [0x40000003, architecture === "x64" ? ARM64 : X64])
      expect(evaluateFilter(filter, other, calls.read)).toBe(ENOSYS);
    if (architecture === "x64") expect(evaluate(0x40000000 | calls.read)).toBe(ENOSYS);
    expect(filter.length % 8).toBe(0);
  });
});

describe("the seccomp filter", () => {
  it("is absent on an unsupported architecture", () => {
    expect(buildSeccompFilter({ architecture: "riscv64" })).toBeUndefined();
  });
});
