// One entry of the stream, as an element.

import { el } from "./dom.js";
import { agoElement, clock, day, exact, outside, passage, share, sourceCounts } from "./text.js";

const SOURCES_SHOWN = 4;
const LOW_TRUST = 0.5;

const SCALE = ["info", "notable", "warning", "critical"];

/** How large a thought is set: 0 to 3, as its severity. */
const heat = (severity) => Math.max(0, SCALE.indexOf(severity));

function sources(perceptions) {
  const counts = sourceCounts(perceptions);
  const row = el("span", { class: "sources" });
  for (const [source, count] of counts.slice(0, SOURCES_SHOWN)) {
    row.append(el("span", { class: "source" }, outside(source), count > 1 && el("span", { class: "times", text: `\u00d7${count}` })));
  }
  if (counts.length > SOURCES_SHOWN) row.append(el("span", { class: "source", text: `+${counts.length - SOURCES_SHOWN} more` }));
  return row;
}

/** A small bar filled to `value`, with the number for those who cannot see it. */
export function gauge(value, name) {
  const bar = el("span", { class: "gauge", role: "img", "aria-label": `${name} ${share(value)}`, title: `${name} ${share(value)}` }, el("i"));
  bar.style.setProperty("--value", String(Math.min(1, Math.max(0, value || 0))));
  return bar;
}

function detail(name, value, hint, className = "detail") {
  return el("span", { class: className, title: hint }, `${name} `, el("b", { text: share(value) }));
}

/** Who found the words, where they are more than what was perceived. */
export function wordedBy({ worded_by: who }) {
  return el("span", { class: who === "rule" ? "detail weigh" : "detail", title: "Who found the words: a rule, or a model" }, "words ", outside(who));
}

/** The element of an entry; it carries its number in `data-seq` and its day in `data-day`. */
export function entryElement(entry) {
  const segue = entry.kind === "segue";
  const link = el("a", { class: "number", href: `#seq-${entry.seq}`, tabindex: -1, "aria-label": `Lineage of ${entry.kind} ${entry.seq}`, text: `#${entry.seq}` });
  const meta = el("p", { class: "meta", id: `meta-${entry.seq}` }, sources(entry.perceptions));
  const low = entry.trust < LOW_TRUST;
  const trust = detail("trust", entry.trust, "That of the least trusted thing it came from, 0 to 1", low ? "detail" : "detail weigh");
  const parts = [
    entry.kind !== "thought" && el("span", { class: "detail", text: entry.kind }),
    agoElement(entry.time),
    entry.severity === "critical" && el("span", { class: "detail critical", text: "critical" }),
    !segue && detail("salience", entry.salience, `The chance that a person would want it, 0 to 1. Its confidence is ${share(entry.confidence)}, its trust ${share(entry.trust)}.`),
    low && !segue && trust,
    !segue && detail("confidence", entry.confidence, "How sure its author was that the parts belong together, 0 to 1", "detail weigh"),
    !low && !segue && trust,
    entry.worded_by && wordedBy(entry),
  ];
  meta.append(...parts.filter(Boolean));
  const article = el(
    "article",
    {
      class: `entry ${segue ? "segue" : "thought"}`,
      tabindex: -1,
      "aria-labelledby": `words-${entry.seq}`,
      "aria-describedby": `meta-${entry.seq}`,
      "aria-setsize": -1,
      data: { seq: String(entry.seq), heat: String(segue ? 0 : heat(entry.severity)), day: day(entry.time) },
    },
    el("h3", { class: "day", text: day(entry.time), hidden: true }),
    el(
      "div",
      { class: "when" },
      el("time", { class: "clock", datetime: entry.time, title: `${day(entry.time)}, ${exact(entry.time)} \u00b7 ${entry.time}`, text: clock(entry.time) }),
      link,
    ),
    el("span", { class: "mark", "aria-hidden": "true" }, el("i")),
    el("div", { class: "body" }, passage(entry.text), meta),
  );
  article.querySelector(".words").id = `words-${entry.seq}`;
  article.style.setProperty("--salience", String(Math.min(1, Math.max(0, entry.salience || 0))));
  return article;
}
