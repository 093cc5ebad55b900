// Generated from docs/openapi.json by `npm run docs`. Do not edit.
export { ARTIFACT_TYPES } from "./lists/artifact-types.ts";
export { DELIVERY_STATES } from "./lists/delivery-states.ts";
export { EXECUTION_LOCATIONS } from "./lists/execution-locations.ts";
export { FOLLOWUP_OUTCOMES } from "./lists/followup-outcomes.ts";
export { FOLLOWUP_POLICIES } from "./lists/followup-policies.ts";
export { OVERLAPS } from "./lists/overlaps.ts";
export { ROLES } from "./lists/roles.ts";
export { RUN_MODES } from "./lists/run-modes.ts";
export { RUN_SOURCES } from "./lists/run-sources.ts";
export { RUN_STATES } from "./lists/run-states.ts";
export { SCOPES } from "./lists/scopes.ts";
export { TASK_STATUSES } from "./lists/task-statuses.ts";
export { TICK_OUTCOMES } from "./lists/tick-outcomes.ts";
export { TIMELINE_TYPES } from "./lists/timeline-types.ts";
export { TRIGGER_OUTCOMES } from "./lists/trigger-outcomes.ts";
export { USAGE_GROUPS } from "./lists/usage-groups.ts";
export { WEBHOOK_EVENT_TYPES } from "./lists/webhook-event-types.ts";
