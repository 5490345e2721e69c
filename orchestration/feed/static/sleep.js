// What the mind made of its memory the last time it slept.

import { el } from "./dom.js";
import { entityAddress } from "./graph.js";
import { agoElement, figure, outside, short } from "./text.js";

const PARTS = [
  ["gists", "What recurs", "many episodes gave these"],
  ["merged", "Turned out to be one", "said in other words"],
  ["rehearsed", "Gone through again", "what came to mind, and what is owed"],
  ["faded", "Let go", "over or wrong, and faded"],
  ["contradictions", "Denied", "and not settled"],
];

const line = (each) => el("li", {}, each.entity && el("a", { href: entityAddress(each.entity) }, outside(each.entity)), " ", outside(each.text), each.why && outside(` ${each.why}`, { class: "quiet" }));

function part(report, [name, title, what]) {
  const { count, lines } = report[name] ?? { count: 0, lines: [] };
  if (!Number(count)) return null;
  const left = Number(count) - lines.length;
  const rest = left > 0 && lines.length > 0 && el("p", { class: "quiet", text: `and ${figure(left)} more` });
  return el("details", { class: "slept", data: { part: name } }, el("summary", {}, el("b", { text: figure(count) }), ` ${title.toLowerCase()} `, el("span", { class: "quiet", text: what })), el("ul", { class: "evidence" }, ...lines.map(line)), rest);
}

/** A sleep as elements; without one, what sleep is. */
export function slept(report) {
  if (!report) return [el("p", { class: "quiet", text: "It has not slept yet. Once a night, or when little comes, it goes through what was told: it finds what recurs, folds what is said twice, lets go of what faded." })];
  const parts = PARTS.map((each) => part(report, each)).filter(Boolean);
  return [
    el("p", { class: "quiet" }, agoElement(report.at), `, ${report.reason === "night" ? "at night" : "as little came"}; ${figure(report.perceptions)} texts since ${short(report.since)}`),
    ...(parts.length ? parts : [el("p", { text: "It found nothing to change." })]),
  ];
}
