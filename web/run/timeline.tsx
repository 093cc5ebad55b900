import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { RunItem } from "../../clients/typescript/src/index.ts";
import { formatDuration, isEnded } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";
import { useNow } from "../ui/time.tsx";
import { toAxis } from "./axis.ts";
import type { Feed } from "./feed.ts";
import { type Picture, type Span, type Track, toPicture } from "./spans.ts";

interface TimelineProps {
  readonly run: RunItem;
  readonly feed: Feed;
}

/** The run as a picture: a track for its phases, its setup and its actions. */
export function Timeline({ run, feed }: TimelineProps) {
  return isEnded(run.state) ? (
    <Drawn run={run} feed={feed} now={Date.parse(run.updated_at)} />
  ) : (
    <Live run={run} feed={feed} />
  );
}

function Live({ run, feed }: TimelineProps) {
  const now = useNow();
  return <Drawn run={run} feed={feed} now={now} />;
}

function Drawn({ run, feed, now }: TimelineProps & { readonly now: number }) {
  const picture = useMemo(() => toPicture(feed.events, feed.entries, now), [feed, now]);
  return (
    <section className={isEnded(run.state) ? "card timeline" : "card timeline timeline-live"} aria-label="Timeline">
      {picture === undefined ? <div className="timeline-wait" /> : <Tracks picture={picture} runId={run.run_id} />}
    </section>
  );
}

/** The text of a mark beyond this place ends at the mark: centered, it would reach over the end of the axis. */
const LAST_CENTERED = 0.96;

function Tracks({ picture, runId }: { readonly picture: Picture; readonly runId: string }) {
  const length = picture.end - picture.start;
  return (
    <>
      {picture.tracks.map((track) => (
        <TrackRow key={track.name} track={track} picture={picture} runId={runId} />
      ))}
      <div className="track-axis number" aria-hidden>
        {toAxis(length).map(({ place, text }) => (
          <span key={text} style={{ left: `${place * 100}%` }} data-end={place > LAST_CENTERED || undefined}>
            {text}
          </span>
        ))}
      </div>
    </>
  );
}

function TrackRow({
  track,
  picture,
  runId,
}: {
  readonly track: Track;
  readonly picture: Picture;
  readonly runId: string;
}) {
  return (
    <div className="track">
      <span className="track-name">{track.name}</span>
      <ul className="track-bars" aria-label={track.name}>
        {track.spans.map((span) => (
          <SpanBar key={span.key} span={span} picture={picture} runId={runId} />
        ))}
      </ul>
    </div>
  );
}

function SpanBar({ span, picture, runId }: { readonly span: Span; readonly picture: Picture; readonly runId: string }) {
  const length = picture.end - picture.start;
  const offset = ((span.start - picture.start) / length) * 100;
  const width = ((span.end - span.start) / length) * 100;
  const text = `${revealHidden(span.label).slice(0, 120)}, ${formatDuration(span.end - span.start)}`;
  return (
    <li
      className="span"
      style={{
        left: `${Math.max(0, Math.min(99.6, offset))}%`,
        width: `max(3px, ${Math.max(0, Math.min(100, width))}%)`,
      }}
    >
      {span.target === undefined ? (
        <span className={`span-bar span-${span.tone}`} title={text}>
          <span className="span-text">{text}</span>
        </span>
      ) : (
        <Link
          to="/runs/$runId"
          params={{ runId }}
          hash={span.target}
          replace
          resetScroll={false}
          tabIndex={-1}
          className={`span-bar span-${span.tone}`}
          title={text}
        >
          <span className="span-text">{text}</span>
        </Link>
      )}
    </li>
  );
}
