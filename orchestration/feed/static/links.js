// Connections as lines between two subminds, and what flowed along them between two looks.

const key = (owner, peer) => `${owner}\u0000${peer}`;

/** Connections of each (owner, peer), strongest topic first: a line is as strong as its strongest topic. */
export function links(connections) {
  const pairs = new Map();
  for (const connection of connections) {
    const name = key(connection.owner, connection.peer);
    const pair = pairs.get(name) ?? { key: name, owner: connection.owner, peer: connection.peer, topics: [] };
    pair.topics.push(connection);
    pairs.set(name, pair);
  }
  for (const pair of pairs.values()) {
    pair.topics.sort((a, b) => b.weight - a.weight);
    pair.weight = pair.topics[0].weight;
    pair.ltp = pair.topics.some((topic) => topic.ltp);
  }
  return [...pairs.values()];
}

/** The same lines between what is drawn: `stands` names the item that stands for each submind; lines within one go. */
export function between(pairs, stands) {
  const lines = new Map();
  for (const pair of pairs) {
    const [owner, peer] = [stands.get(pair.owner), stands.get(pair.peer)];
    if (owner === undefined || peer === undefined || owner === peer) continue;
    const line = lines.get(key(owner, peer)) ?? { key: key(owner, peer), owner, peer, weight: 0, ltp: false, flow: 0, pairs: 0 };
    line.weight = Math.max(line.weight, pair.weight);
    line.ltp ||= pair.ltp;
    line.flow += pair.flow ?? 0;
    line.pairs += 1;
    lines.set(line.key, line);
  }
  return [...lines.values()].sort((a, b) => Number(b.ltp) - Number(a.ltp) || b.weight - a.weight || (a.key < b.key ? -1 : 1));
}

/** Counts uses between looks. */
export class Flow {
  constructor() {
    this.uses = null;
  }

  /** Give every pair its `flow`: how often it was used since the last look; 0 at the first. */
  measure(pairs) {
    const seen = new Map();
    for (const pair of pairs) {
      pair.flow = 0;
      for (const { topic, uses } of pair.topics) {
        const name = `${pair.key}\u0000${topic}`;
        seen.set(name, uses);
        if (this.uses) pair.flow += Math.max(0, uses - (this.uses.get(name) ?? 0));
      }
    }
    this.uses = seen;
  }
}
