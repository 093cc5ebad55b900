import { Bot, Box, CalendarClock, ChartNoAxesColumn, Inbox, Radio, Rows3, Settings, Shapes } from "lucide-react";

/** The pages of the navigation, each with the key that opens it after `g`. */
export const PLACES = [
  { to: "/inbox", label: "Inbox", key: "i", Icon: Inbox },
  { to: "/runs", label: "Runs", key: "r", Icon: Rows3 },
  { to: "/schedules", label: "Schedules", key: "s", Icon: CalendarClock },
  { to: "/triggers", label: "Triggers", key: "t", Icon: Radio },
  { to: "/environments", label: "Environments", key: "e", Icon: Box },
  { to: "/agents", label: "Agents", key: "a", Icon: Bot },
  { to: "/resources", label: "Resources", key: "m", Icon: Shapes },
  { to: "/usage", label: "Usage", key: "u", Icon: ChartNoAxesColumn },
  { to: "/settings", label: "Settings", key: ",", Icon: Settings },
] as const;
