import { X } from "lucide-react";
import { useMe } from "../api/session.ts";
import { IconButton } from "../ui/button.tsx";
import { revealHidden } from "../ui/hidden-characters.ts";
import { type FilterProps, NO_FILTERS } from "./run-search.ts";
import { dropView, isSameSearch, readSavedViews } from "./saved-views.ts";

/** The views that the person has saved, each with a button that removes it. */
export function SavedViewList({ search, onChange }: FilterProps) {
  const { uid } = useMe();
  return (
    <ul className="filter-chips" aria-label="Saved views">
      {readSavedViews(uid).map((view) => (
        <li key={view.name} className="chip">
          <button
            type="button"
            className="chip-button truncate"
            aria-pressed={isSameSearch(view.search, search)}
            onClick={() => onChange({ ...NO_FILTERS, ...view.search })}
          >
            {revealHidden(view.name)}
          </button>
          <IconButton label={`Remove the view ${view.name}`} onClick={() => dropView(uid, view.name)}>
            <X size={13} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
