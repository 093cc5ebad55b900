import { ChevronsUpDown } from "lucide-react";
import type { ComponentProps } from "react";
import { useMe } from "../api/session.ts";

/** The button that opens the account menu. */
export function AccountButton(props: ComponentProps<"button">) {
  const me = useMe();
  const name = me.display_name || me.email;
  return (
    <button type="button" aria-haspopup="menu" {...props} className="account">
      <span className="avatar" aria-hidden>
        {(name || "?").trim().charAt(0).toUpperCase()}
      </span>
      <span className="visually-hidden">Account of </span>
      <span className="account-name">{name}</span>
      <ChevronsUpDown size={14} aria-hidden className="account-arrow" />
    </button>
  );
}
