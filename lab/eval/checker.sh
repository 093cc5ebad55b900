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

# Executes test.sh of the repository, with the tests on standard input next to its own. All of them must finish.
check_go() {
  local output name
  git diff --quiet HEAD -- test.sh
  cat > hidden_check_test.go
  ./test.sh
  output="$(go test -timeout 60s -v ./...)"
  for name in $(sed -n 's/^func \(Test[A-Za-z]*\).*/\1/p' hidden_check_test.go); do
    if [[ "$output" != *"--- PASS: $name ("* ]]; then
      echo "$name was ended before its last line."
      return 1
    fi
  done
}

set -euo pipefail
source "$1"
