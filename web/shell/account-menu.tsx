import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { refreshQueries } from "../api/query-client.ts";
import { signOut, useMe } from "../api/session.ts";
import { selectedTeam, selectTeam } from "../api/team-choice.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { InlineError } from "../ui/status.tsx";
import { AccountButton } from "./account-button.tsx";
import { setTheme, type Theme, useTheme } from "./theme.ts";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System theme"],
  ["light", "Light theme"],
  ["dark", "Dark theme"],
];

interface AccountMenuProps {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

/** The person, their teams, the theme and the sign-out. */
export function AccountMenu({ onHelp, onPalette }: AccountMenuProps) {
  const me = useMe();
  const theme = useTheme();
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: async () => {
      await signOut();
      await navigate({ to: "/sign-in", search: {} });
    },
  });
  return (
    <>
      {/* A modal menu would inject a style element, which the content security policy refuses. */}
      <DropdownMenu.Root modal={false} defaultOpen>
        <DropdownMenu.Trigger asChild>
          <AccountButton />
        </DropdownMenu.Trigger>
        <DropdownMenu.Content className="menu" align="start" side="top" sideOffset={6} collisionPadding={8}>
          <DropdownMenu.Label className="menu-label">{me.email}</DropdownMenu.Label>
          {me.teams.length > 1 && <TeamItems teams={me.teams} />}
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.RadioGroup value={theme}>
            {THEMES.map(([value, label]) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item" onSelect={() => setTheme(value)}>
                <Mark />
                {label}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item className="menu-item menu-indent" onSelect={onPalette}>
            Go to or do … <kbd className="menu-key">Ctrl K</kbd>
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item menu-indent" onSelect={onHelp}>
            Keyboard shortcuts
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item menu-indent" onSelect={() => leave.mutate()}>
            Sign out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      <Dialog open={leave.isError} onClose={leave.reset} title="You are still signed in">
        <InlineError error={leave.error} />
        <div className="dialog-actions">
          <Button onClick={() => leave.mutate()}>Try again</Button>
        </div>
      </Dialog>
    </>
  );
}

function TeamItems({ teams }: { readonly teams: readonly { uid: string; name: string }[] }) {
  const chosen = selectedTeam() ?? "";
  const choose = (uid: string | undefined) => {
    selectTeam(uid);
    void refreshQueries();
  };
  return (
    <DropdownMenu.RadioGroup value={chosen}>
      <DropdownMenu.Separator className="menu-line" />
      <DropdownMenu.RadioItem value="" className="menu-item" onSelect={() => choose(undefined)}>
        <Mark />
        All teams
      </DropdownMenu.RadioItem>
      {teams.map(({ uid, name }) => (
        <DropdownMenu.RadioItem key={uid} value={uid} className="menu-item" onSelect={() => choose(uid)}>
          <Mark />
          {name}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

const Mark = () => (
  <span className="menu-mark">
    <DropdownMenu.ItemIndicator>
      <Check size={14} aria-hidden />
    </DropdownMenu.ItemIndicator>
  </span>
);
