import { ApiProblem } from "./api-client.js";

/** @import { RunEvents, RunEvent } from "../shared/wire/event.ts" */

const WAIT_SECONDS = 20;
const MOST_PAUSE_MS = 15_000;

/**
 * Reads a run's events from the first one on, as they come, and returns when the reader has gone. An ended run is looked at
 * again whenever the reader comes back to the page, since a follow-up may have revived it.
 *
 * @param {string} path of the run
 * @param {object} options
 * @param {import("./api-client.js").Api} options.api
 * @param {AbortSignal} options.signal
 * @param {(events: RunEvent[]) => Promise<void>} options.onEvents gets each event once
 * @param {(state: "live" | "ended" | "reconnecting") => void} options.onState
 */
export async function follow(path, { api, signal, onEvents, onState }) {
  let after = 0;
  let failures = 0;
  while (!signal.aborted) {
    const asked = Date.now();
    try {
      /** @type {RunEvents} */
      const answer = await api.get(`${path}/events?after=${after}&wait=${WAIT_SECONDS}`, (WAIT_SECONDS + 15) * 1000);
      after = answer.next;
      await onEvents(answer.events);
      failures = 0;
      onState(answer.ended ? "ended" : "live");
      if (answer.ended) await comeback(signal);
      // An answer that says nothing and was not waited for must not become a storm of questions.
      else if (answer.events.length === 0 && Date.now() - asked < 1000) await pause(1000, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && [400, 401, 403, 404].includes(error.status)) throw error;
      failures += 1;
      onState("reconnecting");
      await pause(backOff(failures, error), signal);
    }
  }
}

/**
 * @param {number} failures
 * @param {unknown} error
 */
function backOff(failures, error) {
  const asked = error instanceof ApiProblem ? (error.retryAfterMs ?? 0) : 0;
  const most = Math.min(MOST_PAUSE_MS, 500 * 2 ** failures);
  return Math.max(Math.min(asked, 60_000), most * (0.5 + Math.random() / 2));
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** @param {AbortSignal} signal @returns {Promise<void>} */
function comeback(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    addEventListener("focus", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
