import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds on the page: rules that are violated, each with its elements. */
export async function findViolations(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))",
  );
}
