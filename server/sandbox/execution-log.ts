import * as v from "valibot";
import type { Database } from "../database/database.ts";

const ADD = "INSERT INTO executions (id, run_id) VALUES (?, ?) ON CONFLICT DO NOTHING";
const REMOVE = "DELETE FROM executions WHERE id = ?";
const ALL = "SELECT id, run_id FROM executions";
const Row = v.object({ id: v.string(), run_id: v.string() });

/** The executions that this machine is running. Those of a killed process are still there at the next start. */
export function executionLog(database: Database) {
  return {
    add: (id: string, runId: string): void => {
      database.writeUnsynced(() => database.statement(ADD).run(id, runId));
    },
    remove: (id: string): void => {
      database.writeUnsynced(() => database.statement(REMOVE).run(id));
    },
    all: (): v.InferOutput<typeof Row>[] =>
      database
        .statement(ALL)
        .all()
        .map((row) => v.parse(Row, row)),
  };
}
export type ExecutionLog = ReturnType<typeof executionLog>;
