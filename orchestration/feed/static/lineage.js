// The lineage of a thought: a tree down to the perceptions, and when and where those came from.

import { el } from "./dom.js";
import { gauge, wordedBy } from "./entry.js";
import { agoElement, brief, clock, exact, outside, passage, share, short, visible } from "./text.js";

const OPEN_ALL = 80;
const NAMES = { entry: "conscious", trace: "trace", perception: "perceived" };

function* walk(node) {
  yield node;
  for (const child of node.children ?? []) yield* walk(child);
}

/** Every perception below a node, once each, by event time. */
export function perceptionsOf(root) {
  const found = new Map();
  for (const node of walk(root)) if (node.kind === "perception") found.set(node.id, node);
  return [...found.values()].sort((a, b) => new Date(a.time) - new Date(b.time));
}

/** One line per source, a dot per perception, over the time they span. */
function strip(perceptions) {
  const first = new Date(perceptions[0].time).getTime();
  const last = new Date(perceptions.at(-1).time).getTime();
  const sources = [...new Set(perceptions.map((perception) => perception.source))];
  const rows = sources.map((source) => {
    const track = el("span", { class: "track" });
    const own = perceptions.filter((perception) => perception.source === source);
    for (const perception of own) {
      const dot = el("i", { title: `${exact(perception.time)} ${brief(perception.text, 80)}` });
      dot.style.left = `${last > first ? ((new Date(perception.time) - first) / (last - first)) * 100 : 50}%`;
      track.append(dot);
    }
    return el("li", { "aria-label": `${brief(source, 40)}: ${own.length}` }, outside(source, { class: "source" }), track);
  });
  const sameDay = new Date(first).toDateString() === new Date(last).toDateString();
  const label = sameDay ? clock : short;
  return el(
    "figure",
    { class: "strip" },
    el("ul", { "aria-label": "Perceptions by source" }, ...rows),
    el("figcaption", {}, el("time", { datetime: perceptions[0].time, text: label(first) }), el("time", { datetime: perceptions.at(-1).time, text: last > first ? label(last) : "" })),
  );
}

function summary(root) {
  const perceptions = perceptionsOf(root);
  if (!perceptions.length) return el("p", { class: "quiet", text: "No perception behind it is kept any more." });
  const sources = new Set(perceptions.map((perception) => perception.source)).size;
  const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
  return el(
    "div",
    { class: "rests" },
    el("p", {}, `Rests on ${count(perceptions.length, "perception", "perceptions")} from ${count(sources, "source", "sources")}.`),
    strip(perceptions.slice(0, 400)),
  );
}

function heading(node) {
  const who = node.kind === "perception" ? node.source : node.author;
  return el(
    "div",
    { class: "origin" },
    el("span", { class: "kind", text: NAMES[node.kind] ?? node.kind }),
    node.link && outside(node.link, { class: "detail" }),
    who && outside(who, { class: "source" }),
    node.time && el("time", { class: "clock", datetime: node.time, title: `${short(node.time)} \u00b7 ${node.time}`, text: exact(node.time) }),
    Number.isFinite(node.salience) && gauge(node.salience, "salience"),
    Number.isFinite(node.confidence) && el("span", { class: "detail confidence", title: `confidence ${share(node.confidence)}`, text: `conf ${share(node.confidence)}` }),
    Number.isFinite(node.trust) && el("span", { class: "detail", title: `trust ${share(node.trust)}`, text: `trust ${share(node.trust)}` }),
    node.worded_by && wordedBy(node),
  );
}

/** What spoke for it, the strongest part first, and against what it was weighed; nothing where it was not appraised. */
function why(evidence, decision) {
  const parts = Object.entries(evidence ?? {}).filter(([, value]) => Math.abs(value) >= 0.1);
  if (!parts.length && !decision) return null;
  parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const told = parts.map(([name, value]) => `${name} ${value > 0 ? "+" : "\u2212"}${Math.abs(value).toFixed(1)}`);
  const words = decision ? `Why now: ${visible(decision.words)}` : "Why";
  return el("p", { class: "why", title: "What spoke for it, in log odds", text: [words, told.join(", ")].filter(Boolean).join(decision ? ". For and against: " : ": ") });
}

function item(node, level, open, onOpen, above = null) {
  const children = node.children ?? [];
  const branch = el("li", { role: "treeitem", tabindex: -1, "aria-level": level, class: `node of-${node.kind}`, data: { id: node.id } });
  branch.setAttribute("aria-label", `${NAMES[node.kind] ?? node.kind}, ${brief(node.kind === "perception" ? node.source : node.author, 40)}: ${brief(node.text, 200)}`);
  const said = node.text === above ? el("p", { class: "quiet", text: "In the same words." }) : passage(node.text || "(nothing that can be written)", { limit: 420 });
  const content = el("div", { class: "content" }, heading(node), said, why(node.why?.parts ?? node.evidence, node.why));
  branch.append(content);
  if (node.truncated) {
    const more = el("button", { type: "button", class: "more", tabindex: -1, text: "More lies below: follow from here" });
    more.addEventListener("click", (event) => {
      event.stopPropagation();
      onOpen(node.id);
    });
    content.append(more);
  }
  if (children.length) {
    branch.setAttribute("aria-expanded", String(open(level)));
    branch.append(el("ul", { role: "group" }, ...children.map((child) => item(child, level + 1, open, onOpen, node.text))));
  }
  return branch;
}

const isOpen = (branch) => branch.getAttribute("aria-expanded") === "true";

function shown(tree) {
  return [...tree.querySelectorAll('[role="treeitem"]')].filter((branch) => {
    for (let up = branch.parentElement.closest('[role="treeitem"]'); up; up = up.parentElement.closest('[role="treeitem"]')) {
      if (!isOpen(up)) return false;
    }
    return true;
  });
}

function focus(tree, branch) {
  if (!branch) return;
  for (const other of tree.querySelectorAll('[role="treeitem"][tabindex="0"]')) other.setAttribute("tabindex", "-1");
  branch.setAttribute("tabindex", "0");
  branch.focus({ preventScroll: true });
  branch.firstElementChild.scrollIntoView({ block: "nearest" });
}

const setOpen = (branch, open) => branch.hasAttribute("aria-expanded") && branch.setAttribute("aria-expanded", String(open));

function key(event, tree) {
  const branch = event.target.closest('[role="treeitem"]');
  if (!branch || event.target !== branch || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = shown(tree);
  const at = all.indexOf(branch);
  const parent = branch.parentElement.closest('[role="treeitem"]');
  if (event.key === "ArrowDown") focus(tree, all[at + 1]);
  else if (event.key === "ArrowUp") focus(tree, all[at - 1]);
  else if (event.key === "Home") focus(tree, all[0]);
  else if (event.key === "End") focus(tree, all.at(-1));
  else if (event.key === "ArrowRight") {
    if (branch.getAttribute("aria-expanded") === "false") setOpen(branch, true);
    else if (isOpen(branch)) focus(tree, all[at + 1]);
  } else if (event.key === "ArrowLeft") {
    if (isOpen(branch)) setOpen(branch, false);
    else focus(tree, parent);
  } else if (event.key === "Enter" || event.key === " ") setOpen(branch, !isOpen(branch));
  else if (event.key === "*") for (const other of branch.parentElement.children) setOpen(other, true);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The lineage below `root` as elements; `onOpen(id)` is called to follow a part that was left out. */
export function lineage(root, onOpen) {
  const size = [...walk(root)].length;
  const open = size <= OPEN_ALL ? () => true : (level) => level < 4;
  const tree = el("ul", { role: "tree", class: "tree", "aria-label": "Lineage" }, item(root, 1, open, onOpen));
  tree.firstElementChild.setAttribute("tabindex", "0");
  tree.addEventListener("keydown", (event) => key(event, tree));
  tree.addEventListener("click", (event) => {
    const branch = event.target.closest('[role="treeitem"]');
    if (!branch || event.target.closest("button") || String(window.getSelection()).length) return;
    setOpen(branch, !isOpen(branch));
    focus(tree, branch);
  });
  const parts = [summary(root), tree];
  if (root.time) parts.unshift(el("p", { class: "quiet" }, agoElement(root.time)));
  return parts;
}
