import { ArrowDown, CircleX, Search } from "lucide-react";
import { useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { plural } from "../../ui/format.ts";
import type { StepFilter } from "./steps.ts";

interface StepToolsProps {
  readonly filter: StepFilter;
  readonly onFilter: (filter: StepFilter) => void;
  /** How many steps are shown, of how many. */
  readonly shown: number;
  readonly total: number;
  readonly errors: number;
  readonly onNextError: () => void;
}

/** Searches the steps of a run and leads to its errors. */
export function StepTools({ filter, onFilter, shown, total, errors, onNextError }: StepToolsProps) {
  const search = useRef<HTMLInputElement>(null);
  const isFiltered = filter.text.trim() !== "" || filter.onlyErrors;
  return (
    <search className="step-tools" aria-label="Steps">
      <label className="step-search">
        <Search size={14} aria-hidden />
        <input
          ref={search}
          type="search"
          aria-label="Search the steps"
          placeholder="Search the steps"
          value={filter.text}
          onChange={(event) => onFilter({ ...filter, text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            onFilter({ ...filter, text: "" });
            search.current?.blur();
          }}
        />
      </label>
      {isFiltered && (
        <span className="faint" role="status">
          {shown} of {plural(total, "step")}
        </span>
      )}
      {errors > 0 && (
        <span className="row step-errors">
          <Button small icon={<ArrowDown size={14} aria-hidden />} onClick={onNextError} aria-keyshortcuts="e">
            Next error
          </Button>
          <Button
            small
            aria-pressed={filter.onlyErrors}
            icon={<CircleX size={14} aria-hidden />}
            onClick={() => onFilter({ ...filter, onlyErrors: !filter.onlyErrors })}
          >
            Only errors ({errors})
          </Button>
        </span>
      )}
    </search>
  );
}
