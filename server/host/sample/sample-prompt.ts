/** The prompt of the sample run; everything else is in the skill. */
const REPORT = "Write a report on this repository.";

/** Seconds that the repository's own tests may take. */
const TEST_SECONDS = 60;

/** The skill names the repository's test command in its report; this block runs it and adds how it ended. */
const TEST_RUN = `Then run its tests, for ${TEST_SECONDS} seconds at most:

\`\`\`bash
# Run the repository's own tests
report="$RUNYARD_OUTPUT/report.md"
found=$(sed -n 's/^Test command: \`\\(.*\\)\` (by .*/\\1/p' "$report")
if [ -z "$found" ]; then echo "There is no test command to run."; exit 0; fi
limit() {
  if command -v timeout > /dev/null; then timeout -k 5 ${TEST_SECONDS} "$@"
  else perl -e 'alarm shift; exec @ARGV' ${TEST_SECONDS} "$@"; fi
}
log=$(mktemp)
began=$SECONDS
code=0
limit bash -c "$found" > "$log" 2>&1 < /dev/null || code=$?
took=$((SECONDS - began))
words="exit code $code"
case $code in 124 | 137 | 142) words="not over after ${TEST_SECONDS} s" ;; esac
section=$(
  printf '\\nRun with \`--run-tests\`: %s after %s s. Its last lines:\\n\\n' "$words" "$took"
  tail -n 20 "$log" | LC_ALL=C tr -d '\\000-\\010\\013-\\037\\177' | sed 's/^/    /'
)
printf '%s\\n' "$section" | tee -a "$report"
\`\`\`
`;

/** The prompt of the sample run: the skill's commands come first, then those of the prompt. */
export const samplePrompt = (runTests: boolean): string => (runTests ? `${REPORT}\n\n${TEST_RUN}` : REPORT);
