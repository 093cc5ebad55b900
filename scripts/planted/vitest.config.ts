import { defineConfig } from "vitest/config";
import { testsFromEnvironment } from "../mutation/suites.ts";

export default defineConfig({
  cacheDir: ".planted-cache",
  test: {
    root: process.cwd(),
    ...testsFromEnvironment(),
    setupFiles: ["scripts/planted/setup.ts"],
    environment: "node",
    pool: "forks",
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
