const paint = (code: number, text: string): string => `\u001b[${code}m${text}\u001b[0m`;

/** The output of a test runner that found failures, in colors and long enough to be folded. */
export const failedReport = (): string =>
  [
    `${paint(36, " RUN ")} ${paint(90, "v3.2.0 /workspace/shop")}`,
    "",
    ...Array.from(
      { length: 31 },
      (_, index) =>
        ` ${paint(32, "✓")} cart › applies a voucher once ${paint(2, `(repeat ${index + 1})`)} ${paint(33, "31 ms")}`,
    ),
    ` ${paint(31, "❯ test/cart.test.ts (40 tests | 4 failed)")}`,
    paint(31, "   × cart › applies a voucher once (repeat 32)"),
    paint(31, "     → expected 80 to be 90"),
    "",
    `${paint(31, "AssertionError")}: expected ${paint(31, "80")} to be ${paint(32, "90")}`,
    ` ${paint(36, "❯")} test/cart.test.ts:7:22`,
    "",
    ` Test Files ${paint(31, "1 failed")}`,
    `      Tests ${paint(31, "4 failed")} | ${paint(32, "36 passed")}`,
  ].join("\n");

export const passedReport = (): string =>
  [
    ` Test Files ${paint(32, "14 passed")} ${paint(90, "(14)")}`,
    `      Tests ${paint(32, "200 passed")} ${paint(90, "(200)")}`,
    "   Duration 4.71s",
  ].join("\n");
