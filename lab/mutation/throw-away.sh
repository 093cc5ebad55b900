#!/usr/bin/env bash
# Runs a command in a copy of this machine that ends with it: for mutants of code that isolates commands or kills processes.
#   sudo bash lab/mutation/throw-away.sh npm run lab -- mutate harness/isolation
#   bash lab/mutation/throw-away.sh --help    shows these lines
#
# The command runs as root in this folder, with the files of this machine, but with processes, devices, control groups and a network
# of its own (none but itself). What it writes is kept in memory and is lost, except for .runyard/mutation. Everything that it started
# ends with it, and after RUNYARD_THROW_AWAY_MINUTES (default: 120). Needs Linux, root and 8 GB of free memory.
# It protects against accidents and not against attackers: the kernel is the same, and so is its clock.
set -euo pipefail

case "${1:-}" in
  --help | -h) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  "" ) printf 'Name the command to run. See: bash lab/mutation/throw-away.sh --help\n' >&2; exit 2 ;;
esac

refuse() {
  printf 'throw-away.sh: %s\n' "$1" >&2
  exit 2
}

[ "$(uname -s)" = Linux ] || refuse 'needs Linux; use a Linux machine or virtual machine'
[ "$(id -u)" = 0 ] || refuse 'needs root; run it with sudo'
for tool in unshare setpriv pivot_root ip timeout; do
  command -v "$tool" > /dev/null || refuse "needs $tool; bash scripts/install-test-tools.sh installs it"
done

repository="$(cd "$(dirname "$0")/../.." && pwd -P)"
reports="$repository/.runyard/mutation"
minutes="${RUNYARD_THROW_AWAY_MINUTES:-120}"

# The control group that the command can create others in.
find_group() {
  if [ -d /sys/fs/cgroup/pids ]; then
    printf '/sys/fs/cgroup/pids/runyard-throw-away-%s' "$$"
  elif [ -e /sys/fs/cgroup/cgroup.procs ]; then
    printf '/sys/fs/cgroup/runyard-throw-away-%s' "$$"
  fi
}

start() {
  group="$(find_group)"
  mkdir -p "$reports"
  [ -z "$group" ] || mkdir "$group"
  memory="$(mktemp -d)"
  trap 'kill -KILL "$copy" 2> /dev/null || :' INT TERM HUP
  trap 'clean_up' EXIT
  (
    [ -z "$group" ] || echo "$BASHPID" > "$group/cgroup.procs"
    exec setpriv --pdeathsig KILL unshare --mount --pid --ipc --uts --net --cgroup --fork --kill-child \
      bash "$repository/scripts/mutation/throw-away.sh" --inside "$memory" "$@"
  ) &
  copy=$!
  wait "$copy"
}

# The last processes of the groups may take a moment to end.
clean_up() {
  rmdir "$memory"
  [ -n "$group" ] || return 0
  for _ in $(seq 50); do
    find "$group" -depth -type d -exec rmdir {} + 2> /dev/null || :
    [ -d "$group" ] || return 0
    sleep 0.1
  done
}

# Files: what is written goes to memory. $1: a folder that is the root of a file system; $2: where its copy is mounted.
copy_files() {
  local written
  written="$(mktemp -d "$memory/XXXXXX")"
  mkdir "$written/upper" "$written/work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$written/upper,workdir=$written/work" "$2"
}

make_devices() {
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  local name major minor
  while read -r name major minor; do
    mknod -m 666 "$root/dev/$name" c "$major" "$minor"
  done <<< $'null 1 3\nzero 1 5\nfull 1 7\nrandom 1 8\nurandom 1 9\ntty 5 0'
  # Networks of isolated commands use it, where the kernel has it.
  if [ -c /dev/net/tun ]; then
    mkdir "$root/dev/net"
    mknod -m 666 "$root/dev/net/tun" c 10 200
  fi
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  for name in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${name#*:}" "$root/dev/${name%:*}"; done
}

# Control groups: below that of this copy only. Others would count as abandoned, since their processes are not in this copy.
mount_groups() {
  if [ -d /sys/fs/cgroup/pids ]; then
    mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
    mkdir "$root/sys/fs/cgroup/pids"
    mount -t cgroup -o pids cgroup "$root/sys/fs/cgroup/pids"
  elif [ -e /sys/fs/cgroup/cgroup.procs ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    # A group of version 2 that has processes cannot have limited children.
    mkdir "$root/sys/fs/cgroup/main"
    echo 1 > "$root/sys/fs/cgroup/main/cgroup.procs"
    echo +pids > "$root/sys/fs/cgroup/cgroup.subtree_control" || :
  fi
}

run_inside() {
  memory="$1"
  shift
  mount -t tmpfs -o size=70% tmpfs "$memory"
  root="$memory/root"
  mkdir "$root"
  copy_files / "$root"
  local files
  files="$(findmnt --noheadings --output TARGET --target "$repository")"
  [ "$files" = / ] || copy_files "$files" "$root$files"
  mount --bind "$reports" "$root$reports"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount_groups
  make_devices
  hostname throw-away
  ip link set lo up
  # The addresses of a machine, so that tests of what is blocked have some. Node lists them once both ends of the pair are up.
  ip link add runyard0 type veth peer name runyard1 && ip address add 192.0.2.1/24 dev runyard0
  ip link set runyard0 up && ip link set runyard1 up
  cd "$root"
  pivot_root . .
  umount --lazy .
  cd "$repository"
  export RUNYARD_THROW_AWAY=1
  # Not exec: when this process ends, which is the first of its namespace, the kernel ends all others.
  timeout --kill-after=10 "${minutes}m" \
    setpriv --bounding-set=-sys_boot,-sys_time,-sys_module,-sys_rawio,-syslog,-wake_alarm "$@" && exit 0 || exit "$?"
}

if [ "$1" = --inside ]; then
  shift
  run_inside "$@"
else
  start "$@"
fi
