// Where each submind stands: two facing arcs, rows evenly apart so that every name is legible, one role below the other,
// a child right below its parent. No forces and no library: the same subminds always stand in the same places, and
// a line between two points of the arcs passes through no third.

import { PLACES } from "./faculties.js"; // role to place and rank, as the faculties declare them

const ROW = { least: 21, most: 44, large: 58 };
const PAD = 14;
const ALONE = 7; // rows that one side may have while the other is empty

const byName = (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name));
const rank = (role) => PLACES[role]?.rank ?? Infinity;
const onTheRight = (family) => PLACES[family[0].role]?.place === "right";
/** Roles of those that stand apart from the ring: every mind has one of each, and they talk to all. */
export const APART = Object.keys(PLACES).filter((role) => PLACES[role].place === "apart");

/** The first of a line of descent: the name itself where it has no parent among `nodes`. */
export function founder(node, nodes) {
  const seen = new Set();
  let at = node;
  while (at.parent && nodes.has(at.parent) && !seen.has(at.name)) {
    seen.add(at.name);
    at = nodes.get(at.parent);
  }
  return at;
}

/** Depth first, so that children follow their parent in the order of their birth. */
function descend(node, children, into, depth = 0) {
  if (into.some((placed) => placed.name === node.name)) return into;
  into.push({ ...node, depth });
  for (const child of children.get(node.name) ?? []) descend(child, children, into, depth + 1);
  return into;
}

/** Families by role: each a list that begins with its founder. */
export function families(nodes) {
  const known = new Map(nodes.map((node) => [node.name, node]));
  const children = new Map();
  for (const node of nodes) {
    if (node.parent && known.has(node.parent)) children.set(node.parent, [...(children.get(node.parent) ?? []), node]);
  }
  for (const born of children.values()) born.sort((a, b) => (a.born ?? 0) - (b.born ?? 0) || byName(a, b));
  const founders = new Set(nodes.map((node) => founder(node, known)));
  return [...founders].sort((a, b) => Math.sign(rank(a.role) - rank(b.role)) || byName(a, b)).map((first) => descend(first, children, []));
}

const rows = (groups) => groups.flat().length + new Set(groups.map((family) => family[0].role)).size;

/**
 * Make it fit into `room` rows: the largest families that are not `unfolded` are folded into their founders, then the
 * quietest of what is left are left out. An item is a node with `members`, the names that it stands for.
 */
export function fit(nodes, room, unfolded = new Set()) {
  let groups = families(nodes).map((family) => family.map((node) => ({ ...node, members: [node.name] })));
  const foldable = groups.filter((family) => family.length > 1 && !unfolded.has(family[0].name)).sort((a, b) => b.length - a.length || byName(a[0], b[0]));
  for (const family of foldable) {
    if (rows(groups) <= room) break;
    const folded = [{ ...family[0], members: family.map((node) => node.name) }];
    groups = groups.map((other) => (other === family ? folded : other));
  }
  const surplus = rows(groups) - room;
  const hidden = new Set();
  if (surplus > 0) {
    const quietest = groups.flat().sort((a, b) => (a.activity ?? 0) - (b.activity ?? 0) || byName(b, a));
    for (const node of quietest.slice(0, surplus)) hidden.add(node.name);
    groups = groups.map((family) => family.filter((node) => !hidden.has(node.name))).filter((family) => family.length);
  }
  return { groups, hidden: hidden.size };
}

/** Move at least `count` subminds from the front of `groups`, whole families where that leaves any behind. */
function moved(groups, count) {
  let taken = 0;
  for (let i = 0; i < groups.length - 1; i += 1) {
    taken += groups[i].length;
    if (taken >= count) return [groups.slice(0, i + 1), groups.slice(i + 1)];
  }
  const all = groups.flat();
  const parts = [all.slice(0, count), all.slice(count)];
  return parts.map((part) => (part.length ? [part] : []));
}

/** Share the families out: those of the right while it has the rows for them, all others to the left. */
function sides(groups, most) {
  let right = groups.filter(onTheRight);
  let left = groups.filter((family) => !onTheRight(family));
  const alone = (side, other) => !other.length && rows(side) > ALONE;
  const surplus = (side) => Math.max(0, rows(side) - most);
  if (surplus(right) || alone(right, left)) {
    const [first, rest] = moved(right, surplus(right) || Math.ceil(right.flat().length / 2));
    [left, right] = [[...left, ...first], rest];
  } else if (surplus(left) || alone(left, right)) {
    const count = left.flat().length - (surplus(left) || Math.ceil(left.flat().length / 2));
    const [first, rest] = moved(left, count);
    [left, right] = [first, [...rest, ...right]];
  }
  return [left, right];
}

/**
 * Places for `nodes` ({name, role, parent, born, activity}) in `width` pixels and about `height` at most; `large`
 * spreads them out.
 * Returns {items, captions, hidden, height, row, label}: items with x, y and side (-1 left, 1 right), captions of roles.
 */
export function arrange(nodes, { width, height, unfolded, large = false }) {
  const most = Math.max(4, Math.floor((height - 2 * PAD) / ROW.least));
  const { groups, hidden } = fit(nodes, 2 * most - 4, unfolded);
  const halves = sides(groups, most);
  const deepest = Math.max(1, ...halves.map(rows));
  const row = Math.min(large ? ROW.large : ROW.most, Math.max(ROW.least - 3, (height - 2 * PAD) / deepest));
  const label = Math.min(220, Math.max(98, width * (large ? 0.27 : 0.235)));
  const reach = width / 2 - label;
  const middle = (deepest * row) / 2;
  const place = (index, count) => {
    const y = PAD + middle + (index - (count - 1) / 2) * row;
    const u = middle ? (y - PAD - middle) / (middle + row / 2) : 0;
    return { y, bow: reach * (0.42 + 0.58 * Math.sqrt(Math.max(0, 1 - u * u))) };
  };
  const items = [];
  const captions = [];
  halves.forEach((half, index) => {
    const side = index ? 1 : -1;
    const count = rows(half);
    let at = 0;
    let role = "";
    for (const node of half.flat()) {
      if (node.role !== role) {
        const { y, bow } = place(at, count);
        captions.push({ text: node.role, x: width / 2 + side * bow, y: y + row * 0.2, side });
        role = node.role;
        at += 1;
      }
      const { y, bow } = place(at, count);
      items.push({ ...node, x: width / 2 + side * bow, y, side });
      at += 1;
    }
  });
  return { items, captions, hidden, row, label, height: deepest * row + 2 * PAD };
}

/** The path from one item to another: bent towards the middle, to the right of its direction so that there and back differ. */
export function route(from, to, centre) {
  const apart = Math.abs(to.y - from.y);
  const pull = (point) => point.x + (centre - point.x) * (from.side === to.side ? Math.min(0.95, 0.3 + apart / 260) : 0.75);
  const lift = from.name < to.name ? 7 : -7;
  const ends = [from.x - from.side * 9, to.x - to.side * 11].map((x) => x.toFixed(1));
  return `M ${ends[0]} ${from.y.toFixed(1)} C ${pull(from).toFixed(1)} ${(from.y + lift).toFixed(1)} ${pull(to).toFixed(1)} ${(to.y + lift).toFixed(1)} ${ends[1]} ${(to.y + lift / 4).toFixed(1)}`;
}
