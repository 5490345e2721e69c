// Outside text made fit to be shown, and numbers and times as people read them.

import { el } from "./dom.js";

const NAMED = new Map([
  [0x061c, "ALM"], [0x200b, "ZWSP"], [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LS"], [0x2029, "PS"],
  [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2060, "WJ"],
  [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);
// Control characters other than newline and tab, marks that turn or hide text, halves of characters.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const PILED = /(\p{M}{4})\p{M}+/gu;

function picture(character) {
  const code = character.charCodeAt(0);
  if (NAMED.has(code)) return `\u2039${NAMED.get(code)}\u203a`;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return `\u2039${code.toString(16).toUpperCase().padStart(4, "0")}\u203a`;
}

/** The text with everything that would hide or turn it made visible, and piled-up accents cut. */
export function visible(text) {
  return String(text ?? "").replaceAll("\r\n", "\n").replace(HIDDEN, picture).replace(PILED, "$1\u2026");
}

/** Outside text in an element of its own direction, so that it cannot turn what stands beside it. */
export function outside(text, props) {
  return el("bdi", { dir: "auto", ...props, text: visible(text) });
}

/** The first `limit` characters on one line, for labels and announcements. */
export function brief(text, limit = 140) {
  const line = visible(String(text ?? "").slice(0, limit * 4)).replace(/\s+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}\u2026` : line;
}

const PORTION = 20_000;

/** Outside text as a paragraph that shows `limit` characters, and the rest in portions when asked. */
export function passage(text, { limit = 640, className = "words" } = {}) {
  const whole = String(text ?? "");
  const words = outside(whole.length > limit * 1.25 ? `${whole.slice(0, limit)}\u2026` : whole);
  const block = el("div", { class: className }, words);
  if (whole.length <= limit * 1.25) return block;
  let shown = limit;
  const size = new Intl.NumberFormat("en-GB").format(whole.length);
  const more = el("button", { type: "button", class: "more", text: `Show more of ${size} characters`, "aria-expanded": "false" });
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    const folding = shown >= whole.length;
    shown = folding ? limit : Math.min(whole.length, shown + PORTION);
    words.textContent = visible(whole.slice(0, shown)) + (shown < whole.length ? "\u2026" : "");
    more.textContent = shown >= whole.length ? "Show less" : `Show more of ${size} characters`;
    more.setAttribute("aria-expanded", String(shown > limit));
  });
  block.append(more);
  return block;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const AGO = new Intl.RelativeTimeFormat("en-GB", { numeric: "always", style: "short" });
const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** Hours and minutes where the reader is. */
export const clock = (iso) => CLOCK.format(new Date(iso));
/** With seconds. */
export const exact = (iso) => SECONDS.format(new Date(iso));
/** The day in full. */
export const day = (iso) => DAY.format(new Date(iso));
/** Day and month. */
export const date = (iso) => DATE.format(new Date(iso));
/** Day, month and time. */
export const short = (iso) => SHORT.format(new Date(iso));

// What a mind perceives and thinks has mind time, which is the wall's unless it catches up with the past; what people
// order and actors report has the wall's. Each is told by its own clock, so "5 min ago" means one thing all over the page.
let clocks = { mind: 0, wall: 0, pace: 1 };

/** Mind time now, in milliseconds, going on between two answers; by the reader's clock until the mind has told. */
export function mindTime(wall = Date.now()) {
  return clocks.wall ? clocks.mind + (wall - clocks.wall) * clocks.pace : wall;
}

/** The mind told what time it is to it. */
export function tellMindTime(iso, wall = Date.now()) {
  const mind = Date.parse(iso);
  if (!Number.isFinite(mind)) return;
  const passed = wall - clocks.wall;
  const pace = clocks.wall && passed > 500 ? (mind - clocks.mind) / passed : 1;
  const moved = Math.abs(mind - mindTime(wall));
  clocks = { mind, wall, pace: pace > 1.4 ? pace : 1 };
  if (moved > 2000) refreshAgo();
}

/** How long ago something was to the mind, in words; `now`: by which clock. */
export function ago(iso, now = mindTime()) {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return AGO.format(Math.round(seconds / size), unit);
  }
  return Math.abs(seconds) < 5 ? "just now" : AGO.format(Math.round(seconds), "second");
}

/** A time element that says how long ago to the mind, and keeps the exact time in its title. */
export function agoElement(iso, props) {
  return el("time", { class: "ago", ...props, datetime: iso, title: `${day(iso)}, ${exact(iso)} \u00b7 ${iso}`, text: ago(iso) });
}

/** The same of what has wall time. */
export function agoOnWall(iso, props) {
  const node = agoElement(iso, { ...props, data: { clock: "wall" } });
  node.textContent = ago(iso, Date.now());
  return node;
}

/** Bring every relative time below `root` up to date. */
export function refreshAgo(root = document) {
  const wall = Date.now();
  const mind = mindTime(wall);
  for (const node of root.querySelectorAll("time.ago")) node.textContent = ago(node.dateTime, node.dataset.clock === "wall" ? wall : mind);
}

const PLAIN = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const RATE = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

/** A count or a measure: in full while it is short, then compact. */
export function figure(value) {
  if (value === null || value === undefined || Number.isNaN(Number(value))) return "\u2013";
  const number = Number(value);
  return Math.abs(number) < 10_000 ? PLAIN.format(number) : COMPACT.format(number);
}

/** A rate, to three digits. */
export function rate(value) {
  if (value === null || value === undefined || Number.isNaN(Number(value))) return "\u2013";
  return Math.abs(value) < 10_000 ? RATE.format(value) : COMPACT.format(value);
}

/** A number of 0..1 to two places. */
export const share = (value) => (Number.isFinite(value) ? value.toFixed(2) : "\u2013");

/** A length of time in the largest unit that fits. */
export function span(seconds) {
  for (const [unit, size] of [["d", 86_400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return `${RATE.format(Math.round((seconds / size) * 10) / 10)} ${unit}`;
  }
  return `${RATE.format(Math.round(seconds * 10) / 10)} s`;
}

/** `chat ×3` for each source, most frequent first. */
export function sourceCounts(perceptions) {
  const counts = new Map();
  for (const { source } of perceptions ?? []) counts.set(source, (counts.get(source) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
