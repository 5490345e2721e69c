// Following the stream: server-sent events over fetch (so that a refusal can be read), gaps filled from the log,
// repeats dropped, reconnecting with back-off. Whatever happens in between, entries are delivered once, in order.

import { get, list, loggedIn, Problem, request } from "./api.js";

/** Entries read at a time. */
export const PAGE = 60;
const BATCH = 200;
const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const LASTED_MS = 5_000;

/** Events of an SSE body, as {id, event, data}; comments come as {event: "comment"} so that silence can be told, a mark alone without data. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { id: "", event: "message", data: [] };
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (event.data.length || event.id) yield { ...event, data: event.data.join("\n") };
          event = { id: "", event: "message", data: [] };
        } else if (line.startsWith(":")) {
          yield { event: "comment", id: "", data: "" };
        } else {
          const colon = line.indexOf(":");
          const field = colon < 0 ? line : line.slice(0, colon);
          const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (field === "data") event.data.push(text);
          else if (field === "id") event.id = text;
          else if (field === "event") event.event = text;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Entries from `from` on, at most `limit`. */
export async function readStream(from, limit) {
  return list(await get("v1/stream", { from: Math.max(1, from), limit }), "entries");
}

/**
 * Guarantees: `onEntries` sees every number once and in order, apart from `onReset(entries)`, which replaces all that
 * was shown by the newest page (at the start, after an absence too long to catch up, or when the mind was begun anew).
 */
export class Follower {
  constructor({ onEntries, onReset, onState }) {
    Object.assign(this, { onEntries, onReset, onState, last: null, stopped: true, mind: null });
  }

  start() {
    if (!this.stopped) return;
    this.stopped = false;
    this.#run();
  }

  stop() {
    this.stopped = true;
    this.abort?.abort();
  }

  /** Stop waiting and try again at once. */
  hurry() {
    this.wake?.();
  }

  async #run() {
    let wait = FIRST_WAIT_MS;
    let renewed = false;
    while (!this.stopped) {
      if (!renewed) this.onState({ state: "connecting" });
      renewed = false;
      let since = Infinity;
      try {
        await this.#catchUp();
        await this.#listen(() => {
          wait = FIRST_WAIT_MS;
          since = Date.now();
          this.onState({ state: "live" });
        });
        renewed = Date.now() - since > LASTED_MS; // a server that has others beside it lets go from time to time
        if (renewed) continue;
      } catch (error) {
        if (error instanceof Problem && error.status === 401) {
          this.onState({ state: "token" });
          await loggedIn();
          continue;
        }
      }
      if (this.stopped) break;
      const pause = wait * (0.75 + Math.random() / 2);
      wait = Math.min(LONGEST_WAIT_MS, wait * 2);
      this.onState({ state: "waiting", until: Date.now() + pause });
      await this.#pause(pause);
    }
    this.onState({ state: "stopped" });
  }

  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Bring what is shown up to the head of the log before listening. */
  async #catchUp() {
    const status = await get("v1/status");
    const head = status.stream?.head ?? 0;
    const begunAnew = this.mind !== null && (this.mind !== status.mind || head < this.last);
    this.mind = status.mind;
    if (this.last === null || begunAnew || head - this.last > BATCH) {
      const page = head ? await readStream(head - PAGE + 1, PAGE) : [];
      this.last = page.at(-1)?.seq ?? head;
      this.onReset(page);
    }
    await this.#fill(head);
  }

  /** Read what lies between the last entry and `upTo`. */
  async #fill(upTo) {
    while (this.last < upTo) {
      const entries = await readStream(this.last + 1, BATCH);
      if (!this.#deliver(entries)) throw new Problem(0, `The stream is said to reach ${upTo} but ends at ${this.last}`);
    }
  }

  #deliver(entries) {
    const fresh = [];
    for (const entry of entries) {
      if (entry.seq !== this.last + 1) continue;
      this.last = entry.seq;
      fresh.push(entry);
    }
    if (fresh.length) this.onEntries(fresh);
    return fresh.length > 0;
  }

  async #listen(opened) {
    this.abort = new AbortController();
    let heard = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - heard > SILENCE_MS) this.abort.abort();
    }, 5000);
    try {
      const response = await request(`v1/stream/events?from=${this.last + 1}`, {
        accept: "text/event-stream",
        signal: this.abort.signal,
      });
      opened();
      for await (const { event, data } of events(response.body)) {
        heard = Date.now();
        if (!["thought", "segue", "answer"].includes(event)) continue;
        const entry = JSON.parse(data);
        if (entry.seq > this.last + 1) await this.#fill(entry.seq - 1);
        this.#deliver([entry]);
      }
    } finally {
      clearInterval(watch);
      this.abort.abort();
    }
  }
}
