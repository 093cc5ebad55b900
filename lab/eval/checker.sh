# Runs the checker of a task. Code that a program of a checker loads may end the process with the status 0; therefore each program prints
# a random word at its end, without which it fails.
check_python() { run_to_end 'print("%s")' python3 -; }
check_node() { run_to_end 'console.log("%s")' node --input-type=module -; }

run_to_end() {
  local last="$1" word output
  shift
  word="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  output="$({ cat; printf "\n$last\n" "$word"; } | "$@")"
  if [[ "$output" != *"$word" ]]; then
    echo "A program of the checker was ended before its last line."
    return 1
  fi
}

set -euo pipefail
source "$1"
