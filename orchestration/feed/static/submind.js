// What a submind and a connection are, in words: a glance below the network, the particulars in the panel.

import { get, list } from "./api.js";
import { labels, lifeOf } from "./changes.js";
import { el, svg } from "./dom.js";
import { ago, agoOnWall, brief, clock, figure, outside, passage, share, short, visible } from "./text.js";

const PEERS_AT_A_GLANCE = 4;
const TOPICS_LISTED = 60;
const CHANGES_READ = 500;
const CHANGES_LISTED = 60;

const plural = (count, one, many = `${one}s`) => `${figure(count)} ${count === 1 ? one : many}`;

/** The address of a submind's particulars, and of those of the lines between two. */
export const addressOf = (name) => `#submind=${encodeURIComponent(name)}`;
export const lineAddress = (owner, peer) => `#line=${encodeURIComponent(owner)}/${encodeURIComponent(peer)}`;

/** What the drawing means, and what it leaves out. */
export function legend(links, hidden) {
  const strong = links.filter((link) => link.ltp).length;
  const left = [
    hidden.subminds > 0 && `${plural(hidden.subminds, "quieter submind")} ${hidden.subminds === 1 ? "is" : "are"} not drawn`,
    hidden.lines > 0 && `${plural(hidden.lines, "weaker line")} ${hidden.lines === 1 ? "is" : "are"} drawn only for the submind that is pointed at`,
    hidden.connections > 0 && `the ${plural(hidden.connections, "weakest connection")} of all ${hidden.connections === 1 ? "is" : "are"} left out`,
  ].filter(Boolean);
  return [
    el(
      "p",
      { class: "quiet legend" },
      el("span", { class: "key ltp" }, `${figure(strong)} strong (LTP)`),
      el("span", { class: "key transient" }, `${figure(links.length - strong)} transient`),
      el("span", { class: "key used" }, "in use"),
    ),
    el("p", { class: "quiet hint", text: left.length ? `${left.join("; ")}. The tables below hold more.` : "Thicker is stronger. Open a submind or a line to see what it is about." }),
  ];
}

/** A submind at a glance. */
export function described(report, links, members) {
  const peers = links.filter((link) => link.owner === report.name).sort((a, b) => b.weight - a.weight);
  const told = peers.slice(0, PEERS_AT_A_GLANCE).map((link) => `${brief(link.peer, 30)} ${share(link.weight)}`);
  const more = peers.length - told.length;
  const parts = [
    report.role,
    report.state === "running" ? "" : `${report.state}${report.reason ? `: ${brief(report.reason, 80)}` : ""}`,
    report.mailbox ? `${figure(report.mailbox)} waiting` : "",
    members.get(report.name)?.parent ? `born of ${brief(members.get(report.name).parent, 30)}` : "",
    told.length ? `talks to ${told.join(", ")}${more > 0 ? ` and ${more} more` : ""}` : "",
  ];
  return [
    el("p", { class: "goal" }, outside(report.name, { class: "who" }), " ", outside(brief(report.goal || "No goal is stated.", 160))),
    el("p", { class: "quiet" }, outside(parts.filter(Boolean).join(" \u00b7 "))),
  ];
}

function facts(pairs) {
  return el("dl", { class: "particulars" }, ...pairs.filter(([, value]) => value).flatMap(([term, value]) => [el("dt", { text: term }), el("dd", {}, value)]));
}

function lines(links, other, address) {
  return el(
    "ul",
    { class: "peers" },
    ...links.map((link) =>
      el(
        "li",
        {},
        el("a", { href: address(link) }, outside(other(link))),
        el("span", { class: `weight ${link.ltp ? "ltp" : "transient"}`, title: link.ltp ? "LTP" : "transient" }, bar(link.weight)),
        el("span", { class: "num", text: share(link.weight) }),
        el("span", { class: "quiet", text: plural(link.topics.length, "topic") }),
      ),
    ),
  );
}

function bar(weight) {
  const inner = el("i");
  inner.style.setProperty("--value", String(Math.min(1, Math.max(0, weight || 0))));
  return inner;
}

const section = (title, ...content) => [el("h3", { text: title }), ...content];

/** Names of counters as people say them; the parts of histograms are for Prometheus. */
function metrics(report) {
  const plain = Object.entries(report.metrics ?? {}).filter(([name, value]) => value && !/_bucket|_sum$|_count$/.test(name));
  const said = plain.map(([name, value]) => [name.replace(/^limit_hits:/, "limit hit: ").replace(/_total$/, "").replaceAll("_", " "), figure(value)]);
  return said.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Everything about a submind, for the panel. */
export function aboutSubmind(name, { reports, links, members, folded, unfolded, unfold }) {
  const report = reports.find((candidate) => candidate.name === name);
  if (!report) return [el("p", { class: "quiet" }, "No submind of this name reports. It may have retired, or not have begun.")];
  const member = members.get(name);
  const to = links.filter((link) => link.owner === name).sort((a, b) => b.weight - a.weight);
  const by = links.filter((link) => link.peer === name).sort((a, b) => b.weight - a.weight);
  const topics = report.topics ?? [];
  const said = metrics(report);
  return [
    passage(report.goal || "No goal is stated.", { limit: 400, className: "goal words" }),
    facts([
      ["role", report.role],
      ["state", outside(report.reason ? `${report.state}: ${report.reason}` : report.state)],
      ["mailbox", report.mailbox ? `${figure(report.mailbox)} waiting` : "empty"],
      ["born", member?.born ? el("span", {}, agoOnWall(member.born), member.parent ? " of " : "", member.parent ? el("a", { href: addressOf(member.parent) }, outside(member.parent)) : "") : ""],
      ["reported", agoOnWall(report.at)],
    ]),
    unfolded.has(name) && el("button", { type: "button", class: "more", text: "Fold its line into one again", on: { click: () => unfold(false) } }),
    ...(folded.length ? section(`Stands for ${folded.length}`, el("button", { type: "button", class: "more", text: "Draw them all", on: { click: () => unfold(true) } }), el("ul", { class: "peers names" }, ...folded.map((one) => el("li", {}, el("a", { href: addressOf(one) }, outside(one)))))) : []),
    ...(to.length ? section("Talks to", lines(to, (link) => link.peer, (link) => lineAddress(name, link.peer))) : []),
    ...(by.length ? section("Hears from", lines(by, (link) => link.owner, (link) => lineAddress(link.owner, name))) : []),
    ...(topics.length ? section(`Topics (${topics.length})`, el("ul", { class: "topics" }, ...topics.slice(0, TOPICS_LISTED).map((topic) => el("li", {}, outside(brief(topic, 80))))), topics.length > TOPICS_LISTED && el("p", { class: "quiet", text: `and ${topics.length - TOPICS_LISTED} more` })) : []),
    ...(said.length ? section("Counted", facts(said.map(([term, value]) => [visible(term), value]))) : []),
  ].filter(Boolean);
}

/** The weight of each topic as it changed: a step for every change. */
function curve(changes) {
  const known = changes.filter((change) => Number.isFinite(change.weight)).toSorted((a, b) => (a.at < b.at ? -1 : 1));
  if (known.length < 2) return null;
  const [width, height] = [400, 72];
  const times = known.map((change) => Date.parse(change.at));
  const x = (t) => 2 + ((t - times[0]) / Math.max(1, times.at(-1) - times[0])) * (width - 4);
  const y = (weight) => 3 + (1 - weight) * (height - 6);
  const byTopic = Map.groupBy ? Map.groupBy(known, (change) => change.topic) : new Map([["", known]]);
  const paths = [...byTopic.values()].map((steps) =>
    svg("path", { class: "steps", d: steps.map((step, i) => `${i ? "H" : "M"} ${x(Date.parse(step.at)).toFixed(1)} ${i ? "V " : ""}${y(step.weight).toFixed(1)}`).join(" ") }),
  );
  const label = times.at(-1) - times[0] > 86_400_000 ? short : clock;
  return el(
    "figure",
    { class: "weights" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `Weight from ${share(known[0].weight)} to ${share(known.at(-1).weight)}` }, svg("line", { x1: 0, x2: width, y1: y(0), y2: y(0), class: "base" }), svg("line", { x1: 0, x2: width, y1: y(0.6), y2: y(0.6), class: "strong" }), ...paths),
    el("figcaption", { class: "quiet" }, el("span", { text: label(known[0].at) }), el("span", { text: "above the dotted line it may become strong (LTP)" }), el("span", { text: label(known.at(-1).at) })),
  );
}

/** Everything about the connections from one submind to another, with how they came to be what they are. */
export async function aboutLine(owner, peer, { links, connections }) {
  const link = links.find((candidate) => candidate.owner === owner && candidate.peer === peer);
  const back = links.some((candidate) => candidate.owner === peer && candidate.peer === owner);
  const answer = await get("v1/connections/history", { owner, limit: CHANGES_READ });
  const changes = list(answer, "changes").filter((change) => change.peer === peer);
  const rows = (link?.topics ?? []).map((topic) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, outside(brief(topic.label || topic.topic, 60))),
      el("td", { class: "num", text: share(topic.weight) }),
      el("td", { text: topic.ltp ? "LTP" : "transient" }),
      el("td", { class: "num", text: `${figure(topic.credited)} of ${figure(topic.uses)}` }),
      el("td", { text: topic.uses ? ago(topic.last_use) : "never" }),
    ),
  );
  const heads = ["Topic", "Weight", "Kind", "Paid off", "Last used"].map((text) => el("th", { scope: "col", text }));
  return [
    el("p", { class: "ends" }, el("a", { href: addressOf(owner) }, "about ", outside(owner)), el("a", { href: addressOf(peer) }, "about ", outside(peer)), back && el("a", { href: lineAddress(peer, owner), text: "the way back" })),
    rows.length ? el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Topics of this connection" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))) : el("p", { class: "quiet", text: "There is no connection any more." }),
    ...section("How it came to be", curve(changes) ?? "", changes.length ? lifeOf(changes.slice(0, CHANGES_LISTED), labels(connections)) : el("p", { class: "quiet", text: `Nothing among the last ${CHANGES_READ} changes of ${visible(owner)}.` })),
    changes.length > CHANGES_LISTED && el("p", { class: "quiet", text: `The latest ${CHANGES_LISTED} of ${changes.length}; all of them: submind connections --history` }),
  ].filter(Boolean);
}
