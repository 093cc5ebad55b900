/** Set up before each test file: keeps the log lines of the service out of the report, and tests can read them. */
import { vi } from "vitest";

vi.spyOn(process.stdout, "write").mockReturnValue(true);
