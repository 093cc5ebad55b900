/** The number of a system call that an architecture does not have. */
const NONE = -1;
/** System calls that commands may not use, by their numbers on x86-64 and on arm64. */
const REFUSED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  // Kernel keys of the host's user, which child processes inherit.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Changes of file systems, which commands do not need and many sandbox escapes started with.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  // Parts of the kernel that programs do not need and attackers often use.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  kcmp: [312, 272],
  lookup_dcookie: [212, 18],
  fanotify_init: [300, 262],
  // The machine itself.
  syslog: [103, 116],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  quotactl: [179, 60],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  vhangup: [153, 58],
  iopl: [172, NONE],
  ioperm: [173, NONE],
};

/**
 * What root does and no other user may, by the same numbers. In a user namespace with one user, files can have no other owner, and nobody
 * else can run a program.
 */
const OF_ROOT: typeof REFUSED = {
  chown: [92, NONE],
  fchown: [93, 55],
  lchown: [94, NONE],
  fchownat: [260, 54],
  setuid: [105, 146],
  setgid: [106, 144],
  setreuid: [113, 145],
  setregid: [114, 143],
  setresuid: [117, 147],
  setresgid: [119, 149],
  setgroups: [116, 159],
  setfsuid: [122, 151],
  setfsgid: [123, 152],
  capset: [126, 91],
};

interface Machine {
  /** AUDIT_ARCH_… */
  readonly audit: number;
  readonly column: 0 | 1;
  readonly socket: number;
  readonly ioctl: number;
  readonly clone: number;
  readonly unshare: number;
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, column: 0, socket: 41, ioctl: 16, clone: 56, unshare: 272 },
  arm64: { audit: 0xc00000b7, column: 1, socket: 198, ioctl: 29, clone: 220, unshare: 97 },
};
const CLONE3 = 435;
const CLONE_NEWUSER = 0x10000000;
/** Unix, IPv4, IPv6 and netlink. Other sockets, such as those between a virtual machine and its host, ignore network namespaces. */
const SOCKET_DOMAINS = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX, which type into a terminal. */
const TYPING = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in struct seccomp_data; for an argument, of its low half. */
const AT = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index };

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];
const load = (at: number): Instruction => [0x20, 0, 0, at];
const response = (value: number): Instruction => [0x06, 0, 0, value];
const allow = response(0x7fff0000);
const refuse = (errno: number): Instruction => response(0x00050000 | errno);
/** Executes the instructions if the loaded value equals this one, and skips them otherwise. */
const where = (value: number, ...then: readonly Instruction[]): Instruction[] => [
  [0x15, 0, then.length, value],
  ...then,
];
const whereAnyBit = (bits: number, ...then: readonly Instruction[]): Instruction[] => [
  [0x45, 0, then.length, bits],
  ...then,
];

interface FilterOptions {
  /** @default that of this machine */
  readonly architecture?: string;
  /**
   * Whether changes of owners and users succeed without an effect, as installers of packages expect where they run as root: "zero
   * consistency root emulation", https://arxiv.org/abs/2405.06085. @default they fail as the kernel decides
   */
  readonly actsAsRoot?: boolean;
}

/**
 * Builds the system call filter for commands in the format of bwrap; undefined on an unknown architecture. Refused calls fail like those of
 * an unprivileged user, so that programs continue without them. New user namespaces are refused too, because inside one a command could
 * reach parts of the kernel that need privileges.
 */
export function buildSeccompFilter({
  architecture = process.arch,
  actsAsRoot = false,
}: FilterOptions = {}): Buffer | undefined {
  const machine = MACHINES[architecture];
  if (machine === undefined) return undefined;
  const { audit, column, socket, ioctl, clone, unshare } = machine;
  const list = (calls: typeof REFUSED) =>
    Object.values(calls)
      .map((numbers) => numbers[column])
      .filter((number) => number !== NONE);
  const ignored = actsAsRoot ? list(OF_ROOT) : [];
  const program = [
    load(AT.machine),
    // The numbers of another architecture mean other calls.
    ...[[0x15, 1, 0, audit] as const, refuse(ENOSYS)],
    load(AT.number),
    // The x32 form of the same calls.
    ...(column === 0 ? [[0x35, 0, 1, 0x40000000] as const, refuse(ENOSYS)] : []),
    ...list(REFUSED).flatMap((number) => where(number, refuse(EPERM))),
    ...ignored.flatMap((number) => where(number, refuse(0))),
    ...where(
      socket,
      load(AT.argument(0)),
      ...SOCKET_DOMAINS.flatMap((domain) => where(domain, allow)),
      refuse(EAFNOSUPPORT),
    ),
    ...where(ioctl, load(AT.argument(1)), ...TYPING.flatMap((request) => where(request, refuse(EPERM))), allow),
    ...[clone, unshare].flatMap((number) =>
      where(number, load(AT.argument(0)), ...whereAnyBit(CLONE_NEWUSER, refuse(EPERM)), allow),
    ),
    // A filter cannot read the flags of clone3; programs then fall back to clone.
    ...where(CLONE3, refuse(ENOSYS)),
    allow,
  ];
  return encode(program);
}

/** The instructions as struct sock_filter, little-endian. */
function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(ifTrue, 8 * index + 2);
    bytes.writeUInt8(ifFalse, 8 * index + 3);
    bytes.writeUInt32LE(value, 8 * index + 4);
  }
  return bytes;
}
