// Everything known of one entity, for the memory view: what is so and was, who says so, what is owed, what is around it.

import { get, list } from "./api.js";
import { el } from "./dom.js";
import { gauge } from "./entry.js";
import { EntityDrawing, entityAddress } from "./graph.js";
import { ago, agoElement, brief, figure, mindTime, outside, share, short } from "./text.js";

const OVER = 6; // of what was before, until more is asked for
const SIZES = [40, 120, 300]; // entities of a drawing
const VALUES = 8; // that are drawn around the middle

const times = (count) => (Number(count) === 1 ? "once" : `${figure(count)} times`);

/** Something that was perceived, word for word: when, by whom, and the way to its lineage. */
export function quoted({ perception, text }, { lead = "", ...props } = {}) {
  const { id, source, time } = perception;
  const said = text.startsWith(`${source}: `) ? text.slice(source.length + 2) : text;
  return el(
    "li",
    props,
    lead,
    el("span", { class: "source" }, outside(source)),
    " ",
    outside(said ? brief(said, 400) : "not kept any more"),
    " ",
    el("a", { class: "quiet when", href: `#id=${encodeURIComponent(id)}`, "aria-label": `Lineage of what ${brief(source, 40)} said`, title: time, text: short(time) }),
  );
}

/** Why a fact is over, wrong or disputed; what shows it is a link. */
function reason({ reason: why = "" }) {
  const [said, id] = why.split(": ");
  if (/^p-/.test(id ?? "")) return el("span", {}, `${said}: `, el("a", { href: `#id=${encodeURIComponent(id)}`, text: "what shows it" }));
  return why.startsWith("corrected") ? "an operator corrected it" : why.replace(/ by f-\S+/, " by another");
}

function validity(fact) {
  const from = el("time", { datetime: fact.since, title: fact.since, text: short(fact.since) });
  if (fact.standing === "wrong") return ["never so"];
  return fact.until ? [from, " to ", el("time", { datetime: fact.until, title: fact.until, text: short(fact.until) })] : ["since ", from];
}

/** One fact, of the entity or with it as its value; opened it tells what it rests on. */
function row(name, fact, known, over) {
  const of = fact.away ? fact.subject : name;
  const told = fact.away ? fact.subject : fact.value;
  const body = el("div", { class: "quiet", text: "Looking…" });
  const item = el(
    "details",
    { class: `fact-row${over ? " over" : ""}`, data: { standing: fact.standing } },
    el(
      "summary",
      {},
      el("span", { class: "relation" }, outside(fact.relation), fact.away && " of"),
      el("span", { class: "value" }, fact.away || known.has(told.toLowerCase()) ? el("a", { href: entityAddress(told) }, outside(told)) : outside(told)),
      el("span", { class: "meta" }, el("span", {}, ...validity(fact)), el("span", { class: "source" }, outside(fact.evidence.at(-1)?.source ?? "")), fact.standing === "disputed" && el("b", { class: "critical", text: "disputed" }), gauge(fact.confidence, "confidence")),
    ),
    body,
  );
  item.addEventListener("toggle", async () => {
    if (!item.open || body.dataset.told) return;
    try {
      const beliefs = list(await get(`v1/believe/${encodeURIComponent(of)}`, { relation: fact.relation }), "beliefs");
      const { evidence } = beliefs.find((one) => one.fact.id === fact.id) ?? { evidence: [] };
      const said = [`said ${times(fact.sightings)}`, `confidence ${share(fact.confidence)}`, `trust ${share(fact.trust)}`, `learnt ${ago(fact.learned)}`, fact.against.length > 0 && `spoken against ${times(fact.against.length)}`].filter(Boolean);
      body.className = "";
      body.replaceChildren(el("p", { class: "quiet" }, said.join(" · "), fact.reason && " · ", fact.reason && reason(fact)), el("ul", { class: "evidence" }, ...evidence.map((one) => quoted(one))));
      body.dataset.told = "yes";
    } catch (error) {
      body.replaceChildren(el("p", { class: "error", role: "alert" }, outside(error.message)));
    }
  });
  return el("li", {}, item);
}

function facts(title, name, all, known, { over = false, nothing = "" } = {}) {
  if (!all.length) return nothing && [el("h3", { text: title }), el("p", { class: "quiet", text: nothing })];
  const rows = all.map((fact) => row(name, fact, known, over));
  const items = el("ul", { class: "facts" }, ...rows.slice(0, over ? OVER : undefined));
  const rest = rows.length - items.children.length;
  const more = rest > 0 && el("button", { type: "button", class: "more", text: `Show ${rest} more` });
  if (more)
    more.addEventListener("click", () => {
      items.append(...rows.slice(OVER));
      more.remove();
    });
  return [el("h3", { text: title }), items, more];
}

function loops(title, all) {
  if (!all.length) return [];
  const due = (loop) => el("b", { text: loop.dated ? `due ${short(loop.due)} ` : "no answer yet " });
  return [el("h3", { text: title }), el("ul", { class: "owed" }, ...all.map((loop) => quoted(loop, { lead: due(loop) })))];
}

function going(matters) {
  if (!matters.length) return [];
  const last = (matter) => matter.entries.at(-1);
  const one = (matter) => el("li", {}, el("span", { class: "state", text: `${matter.state} ` }), last(matter) ? el("a", { href: `#seq-${last(matter)}` }, outside(matter.title)) : outside(matter.title), " ", agoElement(matter.changed, { class: "ago quiet" }));
  return [el("h3", { text: "Going on" }), el("ul", { class: "evidence" }, ...matters.slice(0, OVER).map(one)), matters.length > OVER && el("p", { class: "quiet", text: `and ${matters.length - OVER} more` })];
}

/** The drawing around an entity, with as many as are asked for, and the same as a table. */
function around(page, name) {
  const root = el("div");
  const show = async (most) => {
    try {
      const found = await get(`v1/neighbourhood/${encodeURIComponent(name)}`, { limit: most });
      const names = new Map(found.entities.map((one) => [one.id, one.name]));
      const drawn = new Set([...names.values()].map((one) => one.toLowerCase()));
      const values = page.facts.filter((fact) => !drawn.has(fact.value.toLowerCase())).slice(0, VALUES).map((fact) => ({ kind: fact.relation, value: fact.value }));
      if (found.entities.length + values.length < 2) {
        root.replaceChildren(el("p", { class: "quiet", text: "Nothing stands around it yet: it was named with nobody and nothing else." }));
        return;
      }
      const cut = found.entities.length === most;
      const sizes = SIZES.filter((size) => size <= most || cut).slice(0, SIZES.indexOf(most) + 2);
      const buttons = sizes.map((size) => el("button", { type: "button", class: "plain", "aria-pressed": String(size === most), "aria-label": `Draw ${size}`, text: String(size), on: { click: () => show(size) } }));
      const rows = found.edges.toSorted((a, b) => b.strength - a.strength).map((edge) => el("tr", {}, ...[edge.one, edge.other].map((id) => el("td", {}, el("a", { href: entityAddress(names.get(id)) }, outside(names.get(id))))).toSpliced(1, 0, el("td", {}, outside(edge.kind))), el("td", { class: "num", text: share(edge.strength) }), el("td", { text: ago(edge.used) })));
      const heads = ["Who or what", "Relation", "To", "Strength", "Last used"].map((text) => el("th", { scope: "col", text }));
      const table = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Edges" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)));
      const drawing = new EntityDrawing(found, values, sizes.length > 1 ? buttons : []);
      root.replaceChildren(drawing.root, el("details", { class: "as-table" }, el("summary", { text: `The same as a table (${rows.length})` }), table));
    } catch (error) {
      root.replaceChildren(el("p", { class: "error", role: "alert" }, outside(error.message)));
    }
  };
  show(SIZES[0]);
  return [el("h3", { text: "Around it" }), root];
}

/** The page of an entity as elements; `denied` shows a contradiction. */
export function entityPage(page, denied) {
  const { name } = page;
  const away = page.elsewhere.map((fact) => ({ ...fact, away: true }));
  const over = (fact) => fact.standing === "wrong" || (fact.until && Date.parse(fact.until) <= mindTime()) || Date.parse(fact.since) > mindTime();
  const known = new Set(page.neighbours.map((one) => one.name.toLowerCase()));
  return [
    el("h2", { class: "entity-name", tabindex: -1 }, outside(name)),
    el("p", { class: "quiet" }, page.aliases.length > 0 && el("span", {}, "also called ", ...page.aliases.flatMap((one, i) => [i ? ", " : "", outside(one)]), " · "), "last named ", agoElement(page.last.time), " by ", el("a", { href: `#id=${encodeURIComponent(page.last.id)}` }, outside(page.last.source)), ` · ${times(page.sightings)} in all · `, el("a", { href: `#recall=${encodeURIComponent(name)}`, text: "what was said of it" })),
    ...(page.contradictions.length ? [el("h3", { text: "To settle" }), el("ul", { class: "denials" }, ...page.contradictions.map(denied))] : []),
    ...(facts("What is so", name, [...page.facts, ...away.filter((fact) => !over(fact))], known, { nothing: "Nothing is known to be so of it now." }) || []),
    ...loops("Promised by it, or asked of it", page.owes),
    ...loops("What it waits for", page.owed),
    ...going(page.matters),
    ...around(page, name),
    ...(facts("What was before, or was wrong", name, [...page.others, ...away.filter(over)], known, { over: true }) || []),
  ].filter(Boolean);
}
