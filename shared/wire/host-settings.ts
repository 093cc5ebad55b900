/** Environment variables with which an operator configures the harness on a host. The harness receives them; commands do not. */
export const HOST_SETTINGS = [
  "RUNYARD_SANDBOX",
  "RUNYARD_COMMAND_MEMORY_MIB",
  "RUNYARD_COMMAND_PROCESSES",
  "RUNYARD_RUN_DISK_MIB",
  "RUNYARD_RUN_FILES",
  "RUNYARD_IMAGE_MIB",
  "RUNYARD_IMAGE_CHECK_MINUTES",
  "RUNYARD_MCP_LOOPBACK",
  "RUNYARD_MCP_PRIVATE_NETWORKS",
] as const;

/** The limits of a run's files, unless RUNYARD_RUN_DISK_MIB and RUNYARD_RUN_FILES set others. */
export const DEFAULT_RUN_DISK_MIB = 10_240;
export const DEFAULT_RUN_FILES = 1_000_000;
