import { ListFilter, Search, X } from "lucide-react";
import { type ComponentProps, lazy, type Ref, useEffect, useState } from "react";
import { Button, IconButton } from "../ui/button.tsx";
import { toWords } from "../ui/format.ts";
import { OpenOnUse } from "../ui/open-on-use.tsx";
import { activeFilters, type FilterProps, VIEWS } from "./run-search.ts";

/** The quick filters. */
export const Views = ({ search, onChange }: FilterProps) => (
  <fieldset className="views">
    <legend className="unseen">Quick filters</legend>
    {VIEWS.map((view) => (
      <button
        key={view}
        type="button"
        className="view"
        aria-pressed={(search.view ?? "all") === view}
        onClick={() => onChange({ view: view === "all" ? undefined : view })}
      >
        {toWords(view)}
      </button>
    ))}
  </fieldset>
);

const TYPING_MS = 250;

interface SearchBoxProps extends FilterProps {
  readonly inputRef: Ref<HTMLInputElement>;
}

/** The search, which follows the typing after a short pause. */
export function SearchBox({ search, onChange, inputRef }: SearchBoxProps) {
  const [text, setText] = useState(search.q ?? "");
  const current = search.q ?? "";
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text.trim() === current) return;
    const timer = setTimeout(() => onChange({ q: text.trim() || undefined }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, current, onChange]);
  return (
    <div className="search">
      <Search size={16} aria-hidden />
      <input
        ref={inputRef}
        className="input"
        type="search"
        aria-label="Search runs"
        placeholder="Search title and prompt"
        maxLength={256}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <kbd aria-hidden>/</kbd>
    </div>
  );
}

const FilterPopover = lazy(async () => ({ default: (await import("./filter-popover.tsx")).FilterPopover }));

/** The button that opens all filters. */
export function MoreFilters(props: FilterProps) {
  const count = activeFilters(props.search).length;
  return (
    <OpenOnUse trigger={(open) => <FilterButton count={count} aria-haspopup="dialog" onClick={open} />}>
      <FilterPopover {...props} trigger={<FilterButton count={count} />} />
    </OpenOnUse>
  );
}

interface FilterButtonProps extends ComponentProps<typeof Button> {
  readonly count: number;
}

const FilterButton = ({ count, ...props }: FilterButtonProps) => (
  <Button {...props} icon={<ListFilter size={16} aria-hidden />}>
    {count === 0 ? "Filter" : `Filter (${count})`}
  </Button>
);

/** The filters that are set, each with a button that removes it. */
export function FilterChips({ search, onChange }: FilterProps) {
  const names = activeFilters(search);
  if (names.length === 0) return null;
  return (
    <ul className="filter-chips" aria-label="Active filters">
      {names.map((name) => (
        <li key={name} className="chip">
          {toWords(name)}: <strong className="truncate">{search[name]}</strong>
          <IconButton label={`Remove the filter ${name}`} onClick={() => onChange({ [name]: undefined })}>
            <X size={13} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
