/** Variables by which whoever runs a sandbox's host changes what its harness does; each is handed on to the harness, and none to commands. */
export const HOST_SETTINGS = [
  "RUNYARD_SANDBOX",
  "RUNYARD_COMMAND_MEMORY_MIB",
  "RUNYARD_COMMAND_PROCESSES",
  "RUNYARD_RUN_DISK_MIB",
  "RUNYARD_RUN_FILES",
  "RUNYARD_MCP_LOOPBACK",
  "RUNYARD_MCP_PRIVATE_NETWORKS",
] as const;
