import { readFileSync } from "node:fs";
import path from "node:path";
import type { ScriptedTask } from "./scripted-agents.ts";
import { failedReport, passedReport } from "./test-reports.ts";

const read = (name: string): string => readFileSync(path.join(import.meta.dirname, "content", name), "utf8");
const use = (name: string, input: unknown) => ({ tools: [{ name, input }] });
const command = (text: string, say?: string) => ({
  ...(say === undefined ? {} : { text: say }),
  ...use("run_command", { command: text }),
});

const printed = (text: string): string => `echo ${Buffer.from(text).toString("base64")} | base64 -d`;

/** The setup of the gallery's environment: a program that prints reports as a test runner does. */
export const setupCommands: readonly string[] = [
  "echo 'Lockfile is up to date'; sleep 0.6; echo 'added 412 packages'",
  [
    "cat > test.sh <<'END'",
    `if [ "$1" = --repeat ]; then ${printed(failedReport())}; exit 1; fi`,
    printed(passedReport()),
    "END",
    "chmod +x test.sh",
  ].join("\n"),
];

/** The repository of the shop's clients, by its files. */
export const shopFiles: Readonly<Record<string, string>> = {
  "src/stock.ts": [
    'import { again } from "./again.js";',
    "",
    "/** Units of a product that can be sold. */",
    "export async function readStock(product: string): Promise<number> {",
    "  const response = await again(() => fetch(`https://stock.example/${product}`));",
    "  return (await response.json()).units;",
    "}",
    "",
  ].join("\n"),
  "src/prices.ts": [
    "/** The price of a product in cents. */",
    "export async function readPrice(product: string): Promise<number> {",
    "  const response = await fetch(`https://prices.example/${product}`);",
    '  if (!response.ok) throw new Error("no price");',
    "  return (await response.json()).cents;",
    "}",
    "",
  ].join("\n"),
  "src/again.js":
    "export const again = async (work) => {\n  try {\n    return await work();\n  } catch {\n    return work();\n  }\n};\n",
};

const applyRetries = [
  "cat > src/retry.ts <<'END'",
  "/** Repeats what fails, with pauses that double. */",
  "export async function withRetry<T>(work: () => Promise<T>, attempts: number): Promise<T> {",
  "  for (let attempt = 1; ; attempt++) {",
  "    try {",
  "      return await work();",
  "    } catch (error) {",
  "      if (attempt >= attempts) throw error;",
  "      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));",
  "    }",
  "  }",
  "}",
  "END",
  "git rm -q src/again.js",
  `sed -i -e 's/again(/withRetry(/; s/));$/), 3);/' -e 's#import { again } from "./again.js"#import { withRetry } from "./retry.ts"#' src/stock.ts`,
  `sed -i -e '1i import { withRetry } from "./retry.ts";\\n' -e 's/await fetch(\\(.*\\));/await withRetry(() => fetch(\\1), 5);/' src/prices.ts`,
].join("\n");

export const checkout: ScriptedTask = {
  prompt: [
    "The checkout test `cart › applies a voucher once` fails about every tenth time in CI.",
    "",
    "1. Find the cause, and say how you know.",
    "2. Fix it, with a test that fails without the fix.",
    "3. Attach a screenshot of the cart and open a pull request.",
  ].join("\n"),
  turns: [
    {
      text: "I start with a plan, and reproduce the failure before I change anything.",
      ...use("create_plan", { title: "Fix the flaky voucher test", content: read("plan.md") }),
    },
    {
      usage: { input: 5200, output: 410 },
      ...use("edit_files", {
        edits: [
          { path: "src/cart.ts", action: "write", new_text: read("cart-before.txt") },
          { path: "src/voucher.ts", action: "write", new_text: read("voucher.txt") },
        ],
      }),
    },
    use("search_files", { pattern: "applyVoucher", glob: "*.ts" }),
    { status: 529, headers: { "retry-after": "2" } },
    command("./test.sh --repeat 40", "Forty repetitions with random delays:"),
    use("read_files", { files: [{ path: "src/cart.ts", start_line: 1, end_line: 24 }] }),
    {
      text: "Two calls of `applyVoucher` read the total **before** either has written it, so the discount is subtracted twice. The voucher has to be claimed in the same step that changes the total.",
      usage: { input: 9100, output: 900 },
      ...use("edit_files", {
        edits: [
          { path: "src/cart.ts", action: "write", new_text: read("cart-after.txt") },
          { path: "test/cart.test.ts", action: "write", new_text: read("cart-test.txt") },
        ],
      }),
    },
    command("./test.sh"),
    {
      text: "Two independent checks go to child runs while I take the screenshot.",
      tools: [
        {
          name: "start_agent",
          input: { title: "Review the fix", prompt: "Review the change of src/cart.ts for races.", wait: true },
        },
        {
          name: "start_agent",
          input: {
            title: "Look for the same pattern elsewhere",
            prompt: "Search the packages for unguarded reads before writes.",
            wait: true,
          },
        },
      ],
    },
    command(
      'cp attachments/cart.png cart.png; printf "attempt,delay_ms,passed\\n1,3,true\\n2,11,false\\n" > "$RUNYARD_OUTPUT/attempts.csv"',
    ),
    use("report_artifact", { artifact_type: "SCREENSHOT", path: "cart.png", description: "The cart with one voucher" }),
    use("report_artifact", {
      artifact_type: "PULL_REQUEST",
      url: "https://github.com/acme/shop/pull/1841",
      branch: "fix/voucher-race",
    }),
    use("report_artifact", {
      artifact_type: "EXTERNAL_REFERENCE",
      reference_type: "issue",
      url: "https://github.com/acme/shop/issues/1790",
      title: "Voucher test is flaky",
    }),
    { text: read("answer.md"), usage: { input: 21_400, output: 1_800 } },
  ],
};

const review: ScriptedTask = {
  prompt: "Review the change of src/cart.ts for races.",
  turns: [
    use("start_agent", { title: "Count the callers", prompt: "Count the callers of applyVoucher.", wait: true }),
    { text: "No race is left: the voucher is claimed in the transaction." },
  ],
};
const callers: ScriptedTask = {
  prompt: "Count the callers of applyVoucher.",
  turns: [command("echo 3 callers"), { text: "There are three callers." }],
};
const pattern: ScriptedTask = {
  prompt: "Search the packages for unguarded reads before writes.",
  turns: [
    command("echo '2 places'; exit 2"),
    { text: "Two more places have the pattern: `stock.ts` and `points.ts`." },
  ],
};

export const migration: ScriptedTask = {
  prompt: "Move the invoices of 2019 to the archive table and drop the old index.",
  turns: [
    command(
      "echo '412,306 rows in invoices_2019'; echo 'index idx_invoices_2019_customer: 1.2 GB'",
      "I look at what is there first.",
    ),
    use("ask_user", { question: read("question.md") }),
  ],
};

export const translation: ScriptedTask = {
  prompt: "Translate the release notes into German and Japanese, and check the links.",
  turns: [
    use("notify_user", { message: "The German notes are done. Japanese is next." }),
    command(
      "for i in $(seq 1 900); do printf '\\033[36m[links]\\033[0m checked %s of 900 \\033[32mok\\033[0m\\n' $i; sleep 2; done",
      "Both translations are written. Now I check **900 links**, which takes a while.",
    ),
  ],
};

/** A task of codex, a third-party agent, in a repository. */
export const retries: ScriptedTask = {
  prompt: "Use the retry helper for all requests of the shop's clients, and delete the old one.",
  turns: [
    { text: "I look for requests that do not retry.", ...use("exec_command", { cmd: "grep -rn 'fetch(' src" }) },
    use("exec_command", { cmd: applyRetries }),
    use("exec_command", { cmd: "git diff HEAD --stat" }),
    {
      text: "All requests of `src/stock.ts` and `src/prices.ts` go through **`withRetry`** now, and `src/again.js` is deleted:\n\n| client | retries | timeout |\n|---|---|---|\n| stock | 3 | 5 s |\n| prices | 5 | 2 s |",
      usage: { input: 4100, output: 380 },
    },
  ],
};

export const tasks: readonly ScriptedTask[] = [checkout, review, callers, pattern, migration, translation, retries];
