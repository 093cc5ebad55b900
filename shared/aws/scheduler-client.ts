import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { hooked, settings } from "./client-settings.ts";

export const schedulerClient = (): SchedulerClient => hooked(new SchedulerClient(settings));
