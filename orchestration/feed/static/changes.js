// What happened to connections, in words; and the short log of what changed in the network.

import { byId, el, narrow } from "./dom.js";
import { sentence } from "./growth.js";
import { agoElement, agoOnWall, brief, mindTime, outside, share } from "./text.js";

const LISTED = { small: 6, large: 24 };
/** Kinds of change that the log tells; what happens at every use is told where a connection is looked at. */
export const NOTABLE = ["opened", "promoted", "demoted", "forgotten", "evicted", "refused"];
const WORDS = {
  opened: "opened",
  credited: "paid off",
  unrewarded: "led to nothing",
  promoted: "became strong (LTP)",
  demoted: "fell back to transient",
  forgotten: "faded out",
  evicted: "was let go",
  refused: "was refused",
};

/** What happened, in two or three words. */
export const happened = (kind) => WORDS[kind] ?? String(kind);

const about = (label) => (label ? el("span", { class: "about" }, " about \u2018", outside(brief(label, 48)), "\u2019") : "");

/** The labels of topics by owner and key, as the connections have them now. */
export function labels(connections) {
  return new Map(connections.map((c) => [`${c.owner}\u0000${c.topic}`, c.label || c.topic]));
}

/** Changes of one moment with one reason are one: they differ in the peers only. */
export function together(changes) {
  const folded = [];
  for (const change of changes) {
    const last = folded.at(-1);
    const same = last && ["owner", "topic", "kind", "at", "reason"].every((name) => last[name] === change[name]);
    if (same) last.peers.push(change.peer);
    else folded.push({ ...change, peers: [change.peer] });
  }
  return folded;
}

function line(change, named) {
  const label = change.label || named.get(`${change.owner}\u0000${change.topic}`) || "";
  const peers = change.peers.flatMap((peer, index) => [index ? ", " : "", outside(peer, { class: "who" })]);
  return el(
    "li",
    { class: `change ${change.kind}` },
    agoElement(change.at),
    el("p", {}, outside(change.owner, { class: "who" }), " \u2192 ", ...peers, " ", el("span", { class: "kind", text: happened(change.kind) }), about(label), change.reason ? el("span", { class: "reason" }, ": ", outside(change.reason)) : ""),
  );
}

const told = (event) => el("li", { class: `change ${event.kind}` }, agoOnWall(event.at), el("p", {}, ...sentence(event)));

/** The log below the network: what changed between subminds, and who was born or ended. */
export class Changes {
  constructor() {
    this.list = byId("changes");
    this.title = byId("changes-title");
  }

  update(changes, connections, events = []) {
    this.last = [changes, connections, events];
    const large = !narrow.matches && document.body.dataset.view === "network";
    const ahead = Date.now() - mindTime(); // growth has wall time, connections have the mind's
    const items = [
      ...together(changes.filter((change) => NOTABLE.includes(change.kind))).map((change) => ({ change, at: Date.parse(change.at), id: `${change.owner} ${change.topic} ${change.kind} ${change.peers}` })),
      ...events.map((event) => ({ event, at: Date.parse(event.at) - ahead, id: `growth ${event.seq}` })),
    ];
    items.sort((a, b) => b.at - a.at);
    items.length = Math.min(items.length, large || narrow.matches ? LISTED.large : LISTED.small);
    const shape = items.map(({ change, event, id }) => `${(change ?? event).at} ${id}`).join("\n");
    this.title.hidden = this.list.hidden = items.length === 0;
    if (shape === this.shape) return;
    this.shape = shape;
    const named = labels(connections);
    this.list.replaceChildren(...items.map(({ change, event }) => (change ? line(change, named) : told(event))));
  }

  /** As much as the place has room for. */
  again() {
    if (this.last) this.update(...this.last);
  }
}

/** The changes of one connection with their weights, newest first, and the curve of the weight. */
export function lifeOf(changes, named) {
  const items = changes.map((change) =>
    el(
      "li",
      { class: `change ${change.kind}` },
      agoElement(change.at),
      el("p", {}, el("span", { class: "num", text: share(change.weight) }), " ", el("span", { class: "kind", text: happened(change.kind) }), about(change.label || named.get(`${change.owner}\u0000${change.topic}`)), change.reason ? el("span", { class: "reason" }, ": ", outside(change.reason)) : ""),
    ),
  );
  return el("ol", { class: "changes life" }, ...items);
}
