import { describe, expect, it } from "vitest";
import { commands } from "../support/api-client.ts";
import { findViolations } from "./support/axe.ts";
import { pageWidth, RUNBOOK, useWebApp } from "./support/web-app.ts";

const app = useWebApp();

const SCRIPT = '<script>alert(1)</script><img src=x onerror="alert(2)">';

/** Commands that write files as an attacker could. */
const FILES = [
  `printf 'name,note\\nkettle,"a, b"\\n%s,=1+1\\n' '${SCRIPT}' > "$RUNYARD_OUTPUT/prices.csv"`,
  `printf '{"a":["%s"]}' '<script>alert(3)</script>' > "$RUNYARD_OUTPUT/report.json"`,
  `printf '# Report\\n\\n**Good** %s\\n' '${SCRIPT}' > "$RUNYARD_OUTPUT/report.md"`,
  `printf '%s' '${SCRIPT}' > "$RUNYARD_OUTPUT/page.html"`,
  `printf '<svg xmlns="http://www.w3.org/2000/svg">%s</svg>' '${SCRIPT}' > "$RUNYARD_OUTPUT/logo.svg"`,
  `printf '%%PDF-1.4' > "$RUNYARD_OUTPUT/page.pdf"`,
];

describe("the artifacts of a run", () => {
  it("are opened by their names, as text and tables of the app, and no script of theirs is run", async () => {
    const run = await app.api().create(commands(FILES.join("\n")), { title: "Files", ...RUNBOOK });
    await app.api().ended(run);
    const { page, complaints } = await app.open(`/runs/${run}`, { width: 360 });
    const open = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await open("prices.csv");
    await page.getByRole("cell", { name: "a, b" }).waitFor();
    await open("report.json");
    await page.locator(".preview .code", { hasText: '"a": [' }).waitFor();
    await open("report.md");
    await page.locator(".preview strong", { hasText: "Good" }).waitFor();
    await open("page.html");
    await page.locator(".preview .code", { hasText: "<script>" }).last().waitFor();
    await open("page.pdf");
    const address = await page.getByRole("link", { name: "Open page.pdf in a new tab" }).getAttribute("href");
    expect(address).toMatch(/^blob:/);
    expect(await page.getByRole("button", { name: "logo.svg", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Download logo.svg" }).waitFor();
    expect(await page.locator(".preview :is(script, img, iframe, object, embed)").count()).toBe(0);
    expect(await pageWidth(page)).toBeLessThanOrEqual(360);
    expect(await findViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
