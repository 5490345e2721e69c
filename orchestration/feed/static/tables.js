// The network as tables, for those who read rather than look, and for what the drawing leaves out.

import { byId, el } from "./dom.js";
import { addressOf, lineAddress } from "./submind.js";
import { brief, figure, outside, share } from "./text.js";

const ROWS = 400;

const cell = (content, props) => el("td", props, content);
const link = (address, name) => el("a", { href: address }, outside(brief(name, 60)));

function fill(id, items, all, row) {
  const table = byId(id);
  byId(`${id}-count`).textContent = all > ROWS ? `${Math.min(ROWS, items.length)} of ${figure(all)}` : figure(all);
  const read = table.contains(document.activeElement); // a link in it keeps the focus
  if (table.closest("details").open && !read) table.tBodies[0].replaceChildren(...items.slice(0, ROWS).map(row));
}

/** Write both tables; one that is folded is written when it is opened. */
export function tabulate(reports, connections, links, of) {
  const peers = new Map();
  for (const pair of links) peers.set(pair.owner, (peers.get(pair.owner) ?? 0) + 1);
  const subminds = () =>
    fill("subminds", reports.toSorted((a, b) => (a.name < b.name ? -1 : 1)), reports.length, (report) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, link(addressOf(report.name), report.name)),
        cell(outside(report.role)),
        cell(outside(report.state)),
        cell(figure(report.mailbox), { class: "num" }),
        cell(figure(report.topics?.length ?? 0), { class: "num" }),
        cell(figure(peers.get(report.name) ?? 0), { class: "num" }),
      ),
    );
  const lines = () =>
    fill("connections", connections.toSorted((a, b) => b.weight - a.weight), of, (c) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, outside(brief(c.owner, 60))),
        cell(outside(brief(c.label || c.topic, 60))),
        cell(link(lineAddress(c.owner, c.peer), c.peer)),
        cell(share(c.weight), { class: "num" }),
        cell(c.ltp ? "LTP" : "transient"),
        cell(`${figure(c.credited)} of ${figure(c.uses)}`, { class: "num" }),
      ),
    );
  for (const [id, write] of [["subminds", subminds], ["connections", lines]]) {
    write();
    byId(id).closest("details").ontoggle = write;
  }
}
