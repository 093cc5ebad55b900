import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, networkInterfaces, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countProcesses, Probe, python, sh } from "./support/host.ts";

/** A command that tries to escape, and what it prints if that fails. */
interface Attempt {
  readonly command: string;
  readonly prints: string | RegExp;
}

/** Prints the result of each system call by its name; each is a call of a libc function. */
const calls = (...them: readonly (readonly [name: string, call: string])[]) =>
  python(
    "import ctypes, os, errno",
    "libc = ctypes.CDLL(None, use_errno=True)",
    "def tell(name, result):",
    "    print(name, 'done' if result >= 0 else errno.errorcode[ctypes.get_errno()])",
    "X = os.uname().machine == 'x86_64'",
    ...them.map(([name, call]) => `tell('${name}', ${call})`),
  );
const connect = (...targets: readonly (readonly [host: string, port: number])[]) =>
  python(
    "import socket",
    `for host, port in ${JSON.stringify(targets)}:`,
    "    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET); s.settimeout(5)",
    "    try: s.connect((host, port)); print('reached', host)",
    "    except OSError as e: print('refused')",
  );
const refused = (count: number) => "refused\n".repeat(count);

const addresses = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ internal }) => !internal)
  .map(({ address }) => address);
/** The home directory of the user that runs the harness, and this checkout. */
const home = userInfo().homedir;
const checkout = process.cwd();
const SECRET_PLACE = "kept-by-another-run";

function attempts(given: {
  readonly tmp: string;
  readonly key: string;
  readonly port: number;
}): Record<string, Attempt> {
  const { tmp, key, port } = given;
  const reversed = [...key].reverse().join("");
  const abstract = `\\0escape-test-${process.pid}`;
  return {
    "the environment of the harness, of every process that there is": {
      command: "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -e 'PLANT[E]D-in' -e 'ry[r]_' || true",
      prints: "0\n",
    },
    "the memory of every process": {
      command: python(
        "import os, re",
        `marker = '${reversed}'[::-1].encode()`,
        "found = 0",
        "for pid in filter(str.isdigit, os.listdir('/proc')):",
        "    if int(pid) == os.getpid(): continue",
        "    try:",
        "        for line in open(f'/proc/{pid}/maps'):",
        "            start, end = [int(x, 16) for x in line.split()[0].split('-')]",
        "            if end - start > 1 << 28: continue",
        "            try:",
        "                with open(f'/proc/{pid}/mem', 'rb') as m: m.seek(start); found += marker in m.read(end - start)",
        "            except (OSError, ValueError, OverflowError): pass",
        "    except OSError: pass",
        "print(found)",
      ),
      prints: "0\n",
    },
    "the root directory of every process": {
      command: `ls -d /proc/[0-9]*/root{${[tmp, home, checkout, "/boot", "/srv", "/var"].join(",")}} 2>/dev/null | wc -l`,
      prints: "0\n",
    },
    "what every process has open, works in and is": {
      command:
        "readlink /proc/[0-9]*/fd/* /proc/[0-9]*/cwd /proc/[0-9]*/exe 2>/dev/null | grep -vE '^(pipe:|socket:|anon_inode:.eventfd|/dev/null|/proc|/workspace|/run/runyard|/usr/|/$|/[^ ]*/pipe-[0-9]+ \\(deleted\\)$)' | sort -u",
      prints: "",
    },
    "to trace the first process of its namespace, to get around the filter, and to see one of the host": {
      command: `grep -h ^Seccomp: /proc/1/status /proc/self/status; ps -e 2>/dev/null | grep -cE 'node|slirp|vitest' || true
${calls(["trace", "0 * libc.ptrace(0x4206, 1, 0, 0)"], ["unshare", "libc.unshare(0x10000000)"])}`,
      prints: "Seccomp:\t2\nSeccomp:\t2\n0\ntrace done\nunshare EPERM\n",
    },
    "the addresses at which clouds hand out credentials": {
      command: connect(
        ["169.254.169.254", 80],
        ["169.254.170.2", 80],
        ["169.254.170.23", 80],
        ["fd00:ec2::254", 80],
        ["168.63.129.16", 80],
        ["100.100.100.200", 80],
        ["192.0.0.192", 80],
      ),
      prints: refused(7),
    },
    "the host's loopback, by each of its names": {
      command: connect(
        ["127.0.0.1", port],
        ["0.0.0.0", port],
        ["::1", port],
        ["10.0.2.2", port],
        ["10.0.2.3", port],
        ["127.1.2.3", port],
      ),
      prints: refused(6),
    },
    "the host's other addresses, which are forbidden and not merely silent": {
      command: python(
        "import socket, errno",
        `for host in ${JSON.stringify(addresses)}:`,
        "    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET); s.settimeout(5)",
        "    try: print(errno.errorcode[s.connect_ex((host.split('%')[0], 22))])",
        "    except OSError as e: print(errno.errorcode[e.errno])",
      ),
      prints: /^(EACCES\n|EHOSTUNREACH\n|ENETUNREACH\n|EINVAL\n)+$/,
    },
    "names that the host alone knows": {
      command: `cat /etc/hosts; getent hosts ${hostname()} | awk '{print $1}' | grep -vxE '127\\..*|::1' | wc -l; cat /etc/hostname 2>/dev/null || hostname`,
      prints: /^127\.0\.0\.1 localhost runyard\n::1 localhost\n[01]\nrunyard\n$/,
    },
    "directories of other runs": {
      command: `ls -d ${tmp}/* 2>/dev/null | wc -l; find / -name '${SECRET_PLACE}*' 2>/dev/null | wc -l`,
      prints: "0\n0\n",
    },
    "files of the host that hold secrets": {
      command: `cat /etc/shadow /etc/machine-id ${home}/.ssh/* ${home}/.aws/* /var/run/secrets/* /etc/ssh/* /etc/ssl/private/* 2>/dev/null | wc -c`,
      prints: "0\n",
    },
    "to write where the harness keeps its scripts": {
      command:
        "exec 2>/dev/null; touch /run/runyard/x && echo made; (echo true > $0) && echo changed; rm -f $0 && echo removed; mv /run/runyard /run/other && echo moved; ln -s /etc /run/runyard/y && echo linked; echo end",
      prints: "end\n",
    },
    "programs that run as their owner": {
      command:
        "cp /usr/bin/id ./mine; chmod 6755 ./mine; ./mine -u; su -c id 2>/dev/null && echo su; grep NoNewPrivs /proc/self/status; chown 0 ./mine 2>/dev/null && echo given",
      prints: "1000\nNoNewPrivs:\t1\n",
    },
    "to mount": {
      command: `mkdir -p m; mount -t tmpfs none m 2>/dev/null && echo mounted; mount --bind / m 2>/dev/null && echo bound; umount /workspace 2>/dev/null && echo unmounted
${calls(
  ["mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)"],
  ["open_tree", "libc.syscall(428, -100, b'/', 1)"],
  ["fsopen", "libc.syscall(430, b'tmpfs', 0)"],
  ["pivot_root", "libc.syscall(155 if X else 41, b'/', b'/')"],
  ["chroot", "libc.chroot(b'/')"],
)}`,
      prints: "mount EPERM\nopen_tree EPERM\nfsopen EPERM\npivot_root EPERM\nchroot EPERM\n",
    },
    "namespaces of its own, in which it would be root": {
      command: calls(
        ["user", "libc.unshare(0x10000000)"],
        ["user and mount", "libc.unshare(0x10020000)"],
        ["mount", "libc.unshare(0x00020000)"],
        ["net", "libc.unshare(0x40000000)"],
        ["pid", "libc.unshare(0x20000000)"],
        ["clone", "libc.syscall(56 if X else 220, 0x10000011, 0, 0, 0, 0)"],
        ["clone3", "libc.syscall(435, 0, 0)"],
        ["setns", "libc.setns(os.open('/proc/1/ns/net', os.O_RDONLY), 0)"],
      ),
      prints:
        "user EPERM\nuser and mount EPERM\nmount EPERM\nnet EPERM\npid EPERM\nclone EPERM\nclone3 ENOSYS\nsetns EPERM\n",
    },
    "devices, and to make them": {
      command:
        "ls -d /sys /dev/mem /dev/kmem /dev/port /dev/kvm /dev/kmsg /dev/fuse /dev/vsock /dev/net /dev/disk /dev/vd* /dev/sd* /dev/nvme* /dev/loop* /dev/mapper 2>/dev/null | wc -l; mknod b b 8 0 2>/dev/null && echo made; head -c1 /dev/core 2>/dev/null; touch /dev/x 2>/dev/null && echo kept; stat -f -c %T /dev/shm",
      prints: /^0\n(?!tmpfs)[\w/-]+\n$/,
    },
    "settings of the kernel": {
      command:
        "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger /proc/sys/fs/binfmt_misc/register /proc/1/oom_score_adj; do (exec 9>> $f) 2>/dev/null && echo $f; done; chmod 600 /dev/tty /dev/null 2>/dev/null; chmod 666 /dev/null 2>/dev/null; touch -d 2001-01-01 /dev/urandom 2>/dev/null; dmesg 2>/dev/null | wc -l; head -1 /proc/kallsyms 2>/dev/null | cut -c1-16 | tr -d 0",
      prints: /^0\n\s*$/,
    },
    "parts of the kernel that only attackers need": {
      command: calls(
        ["keyctl", "libc.syscall(250 if X else 219, 0, -3, 0)"],
        ["add_key", "libc.syscall(248 if X else 217, b'user', b'a', b'b', 1, -3)"],
        ["bpf", "libc.syscall(321 if X else 280, 0, 0, 0)"],
        ["perf", "libc.syscall(298 if X else 241, 0, 0, -1, -1, 0)"],
        ["io_uring", "libc.syscall(425, 1, 0)"],
        ["userfaultfd", "libc.syscall(323 if X else 282, 0)"],
        ["kexec", "libc.syscall(246 if X else 104, 0, 0, 0, 0)"],
        ["module", "libc.syscall(313 if X else 273, -1, b'', 0)"],
        ["by handle", "libc.syscall(304 if X else 265, -100, 0, 0)"],
        ["reboot", "libc.syscall(169 if X else 142, 0, 0, 0, 0)"],
      ),
      prints: /^(\S+ ?\S* EPERM\n){10}$/,
    },
    "sockets of families that no network namespace holds": {
      command: python(
        "import socket, errno",
        "for family in (40, 38, 17, 9, 31, 30, 42):",
        "    try: socket.socket(family, socket.SOCK_STREAM); print('made', family)",
        "    except OSError as e: print(errno.errorcode[e.errno])",
      ),
      prints: "EAFNOSUPPORT\n".repeat(7),
    },
    "sockets of the host's programs": {
      command: `${python(
        "import socket",
        `for path in ['/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/tmp/.X11-unix/X0', '/run/dbus/system_bus_socket', '/run/user/1000/bus', '${tmp}/host.sock', '${abstract}', '\\0/tmp/.X11-unix/X0']:`,
        "    try: socket.socket(socket.AF_UNIX).connect(path); print('reached', path)",
        "    except OSError: print('refused')",
      )}\nenv | grep -c -e SSH_AUTH -e DBUS -e DISPLAY -e DOCKER || true`,
      prints: `${refused(9)}0\n`,
    },
    "the run's key, in arguments, environments and files": {
      command: python(
        "import os",
        `marker = '${reversed}'[::-1].encode()`,
        "found = 0",
        "def look(path):",
        "    try: return marker in open(path, 'rb').read()",
        "    except OSError: return False",
        "for pid in filter(str.isdigit, os.listdir('/proc')):",
        "    if int(pid) != os.getpid(): found += look(f'/proc/{pid}/cmdline') + look(f'/proc/{pid}/environ')",
        "for root in ('/workspace', '/tmp', '/home', '/run', '/etc', '/opt'):",
        "    for folder, _, names in os.walk(root):",
        "        found += sum(look(os.path.join(folder, name)) for name in names)",
        "print(found)",
      ),
      prints: "0\n",
    },
    "to type into the terminal of who started it": {
      command: python(
        "import fcntl, os, pty, errno",
        "try: os.open('/dev/tty', os.O_RDWR); print('has a terminal')",
        "except OSError as e: print(errno.errorcode[e.errno])",
        "m, s = pty.openpty()",
        "for request in (0x5412, 0x541c):",
        "    try: fcntl.ioctl(s, request, b'x'); print('typed')",
        "    except OSError as e: print(errno.errorcode[e.errno])",
      ),
      prints: "ENXIO\nEPERM\nEPERM\n",
    },
    "the clock and the names of the machine": {
      command:
        "date -s 2001-01-01 >/dev/null 2>&1 && echo set; hostname owned 2>/dev/null && echo named; hostname; echo end",
      prints: "runyard\nend\n",
    },
    "limits that it was given": {
      command:
        "ulimit -Hu 999999 2>/dev/null && echo processes; ulimit -Hf unlimited 2>/dev/null && echo files; ulimit -Hn 1000000 2>/dev/null && echo descriptors; ulimit -u; ulimit -c; ulimit -n",
      prints: "1024\n0\n8192\n",
    },
    "real time, and a better place with the scheduler": {
      command: "nice -n -5 true 2>&1 | grep -c 'cannot set' || true; chrt -f 1 true 2>/dev/null && echo real; echo end",
      prints: "1\nend\n",
    },
  };
}

/** The properties of the host's devices that commands of a root harness could change. */
const devices = () =>
  ["null", "tty", "urandom"].map((node) => [
    node,
    statSync(`/dev/${node}`).mode,
    statSync(`/dev/${node}`).mtime.getFullYear(),
  ]);

describe("an escape attempt of a command", () => {
  const names = Object.keys(attempts({ tmp: "", key: "", port: 0 }));
  const name = hostname();
  const before = { processes: countProcesses(), devices: devices() };
  const host = createServer((socket) => socket.end("reached"));
  const abstractHost = createServer((socket) => socket.end("reached"));
  let probe: Probe;
  let log = "";

  beforeAll(async () => {
    probe = await Probe.of({ prompt: "" });
    const { tmp, plane } = probe;
    mkdirSync(join(tmp, "runyard-of-another-run"));
    writeFileSync(join(tmp, "runyard-of-another-run", `${SECRET_PLACE}.txt`), "private words");
    await new Promise<void>((listening) => host.listen(join(tmp, "host.sock"), listening));
    await new Promise<void>((listening) => abstractHost.listen(`\0escape-test-${process.pid}`, listening));
    const all = Object.values(attempts({ tmp, key: plane.key, port: plane.port }));
    // Each is a separate command, so that none affects the next.
    plane.prompt = sh(...all.map(({ command }) => `(\n${command}\n) || true`));
    const environment = {
      PLANTED: "PLANTED-in-the-environment",
      SSH_AUTH_SOCK: join(tmp, "host.sock"),
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(tmp, "host.sock")}`,
      DISPLAY: ":0",
      DOCKER_HOST: `unix://${join(tmp, "host.sock")}`,
    };
    ({ log } = await probe.start(environment).ended);
    // Each of them gets a boundary of its own, which takes many seconds on a busy machine.
  }, 600_000);
  afterAll(async () => {
    host.close();
    abstractHost.close();
    await probe[Symbol.asyncDispose]();
  });

  it("runs to its end in bubblewrap, with a network", () => {
    expect(log).toContain('"sandbox":"bubblewrap","network":true');
    expect(probe.plane.outcome).toEqual({ success: true, summary: `Ran ${names.length} commands.` });
    expect(names.length).toBeGreaterThanOrEqual(25);
  });

  it.each(names.map((name, index) => [name, index] as const))("fails: %s", (name, index) => {
    const { tmp, plane } = probe;
    const wanted = attempts({ tmp, key: plane.key, port: plane.port })[name]?.prints ?? "";
    if (typeof wanted === "string") expect(plane.outputs[index]).toBe(wanted);
    else expect(plane.outputs[index]).toMatch(wanted);
  });

  it("leaves the host as it was", async () => {
    expect(await probe.leftovers()).toEqual(["runyard-of-another-run"]);
    expect(countProcesses()).toBeLessThan(before.processes + 100);
    expect([hostname(), ...devices()]).toEqual([name, ...before.devices]);
    expect(probe.plane.everything + log).not.toContain("PLANTED-in");
    expect(log).not.toContain(probe.plane.key);
  });
});
