import { ListFilter, Search } from "lucide-react";
import { type ComponentProps, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useMe } from "../api/session.ts";
import { takeSearchFocus } from "../shell/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { toWords } from "../ui/format.ts";
import { OpenOnUse } from "../ui/open-on-use.tsx";
import { part } from "../ui/part.tsx";
import { activeFilters, type FilterProps, VIEWS } from "./run-search.ts";
import { onViewsChange, readViewsText } from "./views-text.ts";

/** The quick filters. */
export const Views = ({ search, onChange }: FilterProps) => (
  <fieldset className="views">
    <legend className="visually-hidden">Quick filters</legend>
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

/** The search, which follows the typing after a short pause. */
export function SearchBox({ search, onChange }: FilterProps) {
  const [text, setText] = useState(search.q ?? "");
  const current = search.q ?? "";
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef(current);
  useEffect(() => {
    if (takeSearchFocus()) input.current?.focus();
  }, []);
  useEffect(() => {
    // What was typed meanwhile, if only a space, is kept.
    if (current !== sent.current) setText(current);
    sent.current = current;
  }, [current]);
  useEffect(() => {
    if (text.trim() === current) return;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      onChange({ q: text.trim() || undefined });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, current, onChange]);
  return (
    <div className="search">
      <Search size={16} aria-hidden />
      <input
        ref={input}
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

const FilterPopover = part(async () => (await import("./filter-popover.tsx")).FilterPopover);

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

const ChipList = part(async () => (await import("./filter-chips.tsx")).FilterChips);

/** The filters that are set. */
export const FilterChips = (props: FilterProps) =>
  activeFilters(props.search).length === 0 ? null : (
    <Suspense fallback={<div className="filter-chips" />}>
      <ChipList {...props} />
    </Suspense>
  );

const SavedViewList = part(async () => (await import("./saved-view-list.tsx")).SavedViewList);

/** The views that the person has saved, if there are any. */
export function SavedViews(props: FilterProps) {
  const { uid } = useMe();
  const text = useSyncExternalStore(onViewsChange, () => readViewsText(uid));
  return text === undefined ? null : (
    <Suspense fallback={<div className="filter-chips" />}>
      <SavedViewList {...props} />
    </Suspense>
  );
}
