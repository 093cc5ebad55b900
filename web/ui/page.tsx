import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly narrow?: boolean;
}

/** The heading and the content of a page. The heading names the document too. */
export function Page({ title, lead, actions, children, narrow }: PageProps) {
  useTitle(title);
  return (
    <div className={narrow ? "page page-narrow" : "page"}>
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** What the title of the tab is made of. */
const tab = { title: "", count: 0 };

function showTitle(): void {
  document.title = `${tab.count === 0 ? "" : `(${tab.count}) `}${tab.title} · Runyard`;
}

export function useTitle(title: string): void {
  useEffect(() => {
    tab.title = title;
    showTitle();
  }, [title]);
}

/** Shows how much waits for the person, before the title of the page. */
export function setTitleCount(count: number): void {
  tab.count = count;
  showTitle();
}
