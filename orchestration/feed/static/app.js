// The page: puts the parts together, polls what is not streamed, and turns the address and the keys into acts.

import { get, list, logIn, logOut, onUnauthorised, whoIsHere } from "./api.js";
import { Changes, NOTABLE } from "./changes.js";
import { SalienceChart } from "./chart.js";
import { announce, byId, narrow, typing } from "./dom.js";
import { Follower } from "./follow.js";
import { Growth } from "./growth.js";
import { Health } from "./health.js";
import { Marks } from "./marks.js";
import { Matters } from "./matters.js";
import { Memory } from "./memory.js";
import { Network } from "./network.js";
import { Panel } from "./panel.js";
import { SayBox } from "./say.js";
import { StreamView } from "./stream.js";
import { addressOf, lineAddress } from "./submind.js";
import { refreshAgo } from "./text.js";

const STATUS_MS = 4000;
const WORLD_MS = 4000;
const CONNECTIONS = 2000;
const CHANGES = 300;
const CHANGES_EVERY = 3;
const AGO_MS = 20_000;
const TRACES = 60;

let returnTo = null;

const go = (hash) => {
  if (location.hash === hash) route();
  else location.hash = hash;
};

const stream = new StreamView({ onOpen: (seq) => go(`#seq-${seq}`) });
const health = new Health();
const network = new Network({
  onOpen: (name) => go(addressOf(name)),
  onLink: (owner, peer) => go(lineAddress(owner, peer)),
});
const changes = new Changes();
const marks = new Marks({ name: () => say.who, onChange: () => Promise.all([matters.look(), memory.look()]) });
const matters = new Matters(marks);
const memory = new Memory(marks);
const growth = new Growth({ name: () => say.who, onChange: () => Promise.all([growth.look(), askStatus(), askWorld()]) });
const chart = new SalienceChart({ onOpen: (id) => go(`#id=${encodeURIComponent(id)}`) });
const say = new SayBox();
const panel = new Panel({ network, marks, onClose: closePanel, onFollow: (id) => go(`#id=${encodeURIComponent(id)}`) });

function closePanel() {
  history.replaceState(null, "", document.body.dataset.view === "memory" ? memory.address : location.pathname + location.search);
  route();
  returnTo?.focus?.({ preventScroll: true });
  returnTo = null;
}

/** An address somebody may have typed: as it stands where it is not well-formed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Show what the address names: `#seq-12`, `#id=t-...`, `#find=words`, `#submind=name`, `#line=owner/peer`; in the memory
 * `#recall=words`, `#know=name`, `#memory`.
 */
function route({ arriving = false } = {}) {
  const hash = decoded(location.hash);
  const seq = /^#seq-(\d{1,15})$/.exec(hash);
  const id = /^#id=(.+)$/s.exec(hash);
  const find = /^#find=(.+)$/s.exec(hash);
  const wanted = seq ? Number(seq[1]) : null;
  stream.select(wanted, { fetch: arriving }).catch(() => {});
  const submind = /^#submind=(.+)$/s.exec(hash)?.[1];
  const line = /^#line=([^/]+)\/([^/]+)$/.exec(location.hash)?.slice(1).map(decoded);
  network.pin(submind ? { name: submind } : line ? { owner: line[0], peer: line[1] } : null);
  if (!(seq || id || find || submind || line)) {
    panel.close();
    const [, part, words] = /^#(memory|recall=|know=)(.*)$/s.exec(hash) ?? [];
    if (!part) return;
    memory.show(location.hash, { [part.slice(0, -1)]: words });
    view("memory");
    return;
  }
  if (!panel.open) returnTo = document.activeElement;
  if ((submind || line) && !narrow.matches) view("network"); // the panel takes the place of the small one
  if (find) panel.found(find[1]);
  else if (submind) panel.submind(submind);
  else if (line) panel.line(...line);
  else panel.lineage(seq ? wanted : id[1]);
}

let unseen = 0;
function title(count) {
  document.title = count ? `(${count}) submind` : "submind";
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) title((unseen = 0));
});

const follower = new Follower({
  onEntries: (entries) => {
    stream.arrive(entries);
    if (document.hidden) title((unseen += entries.length));
  },
  onReset: (entries) => {
    stream.reset(entries);
    if (location.hash) route({ arriving: true });
  },
  onState: (state) => health.linkState(state),
});

/** Ask again and again, never twice at once, and only while the page is seen. */
function poll(ask, every) {
  let running = false;
  const turn = async () => {
    if (running || document.hidden) return;
    running = true;
    try {
      await ask();
    } catch {
      health.lost();
    } finally {
      running = false;
    }
  };
  setInterval(turn, every);
  document.addEventListener("visibilitychange", turn);
  turn();
  return turn;
}

const askStatus = poll(async () => {
  const [status] = await Promise.all([get("v1/status"), growth.look(), marks.look()]);
  health.update(status, growth.word);
  const waiting = status.perceptions?.head ?? 0;
  byId("empty-arrived").hidden = waiting === 0;
  const starting = status.state === "starting";
  byId("empty-lead").textContent = starting ? "The mind is starting." : "Nothing has come to mind yet.";
  byId("empty-arrived").textContent = `${waiting} ${waiting === 1 ? "perception has" : "perceptions have"} arrived; ${starting ? "they are kept until it is awake" : "none has become conscious yet"}.`;
}, STATUS_MS);
let looked = 0;
let told = [];
const askWorld = poll(async () => {
  if (narrow.matches && document.body.dataset.view === "stream") return;
  if (!growth.known) await growth.look(); // parents first, so that nobody has to move
  const asked = [get("v1/subminds"), get("v1/connections", { limit: CONNECTIONS, history: false }), get("v1/traces", { limit: TRACES }), growth.events()];
  const [subminds, connections, traces, events] = await Promise.all(asked);
  const reports = list(subminds, "subminds");
  const all = list(connections, "connections");
  if (looked % CHANGES_EVERY === 0) told = list(await get("v1/connections/history", { limit: CHANGES, kind: NOTABLE }), "changes");
  looked += 1;
  health.updateReports(reports);
  network.update(reports, all, { of: connections.total, members: growth.members, every: WORLD_MS });
  changes.update(told, all, events);
  panel.refresh();
  chart.update(list(traces, "traces"));
}, WORLD_MS);
poll(async () => {
  if (document.body.dataset.view === "memory") await memory.look();
}, WORLD_MS);

/** The network stands among the instruments, or large in place of the stream. */
function settle() {
  const large = document.body.dataset.view === "network" && !narrow.matches;
  const section = byId("network");
  const home = byId(large ? "large" : "instruments");
  if (section.parentElement !== home) {
    const held = section.contains(document.activeElement) ? document.activeElement : null;
    home.prepend(section);
    held?.focus({ preventScroll: true });
  }
  byId("enlarge").textContent = large ? "Back to the stream" : "Enlarge";
  changes.again();
}
narrow.addEventListener("change", settle);

function view(name) {
  document.body.dataset.view = name;
  if (name !== "memory" && memory.names(location.hash)) history.replaceState(null, "", location.pathname + location.search);
  for (const button of byId("views").querySelectorAll("button")) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  settle();
  if (narrow.matches) {
    window.scrollTo(0, 0);
    askWorld();
  }
}

byId("enlarge").addEventListener("click", () => {
  const large = document.body.dataset.view === "network";
  if (large && panel.open) closePanel();
  view(large ? "stream" : "network");
});
byId("views").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.view;
  if (name === "memory") {
    memory.stale = true;
    go(memory.address);
  }
  else if (name) view(name);
});
if (memory.names(location.hash)) route();
else view("stream");

byId("recall").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byId("recall-words").value.trim();
  memory.stale = true; // who asks again wants another look
  go(words ? `#recall=${encodeURIComponent(words)}` : "#memory");
});

byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byId("search-words").value.trim();
  if (words) go(`#find=${encodeURIComponent(words)}`);
});

const THEMES = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
function nameTheme(theme) {
  byId("theme").setAttribute("aria-label", THEMES[theme]);
  byId("theme").title = THEMES[theme];
}
function changeTheme() {
  const theme = window.nextTheme();
  nameTheme(theme);
  announce(THEMES[theme]);
}
nameTheme(document.documentElement.dataset.theme);
byId("theme").addEventListener("click", changeTheme);

const help = byId("help");
byId("help-open").addEventListener("click", () => help.showModal());
byId("help-close").addEventListener("click", () => help.close());

const loginDialog = byId("login");
function askToLogIn(why) {
  byId("login-why").textContent = why;
  if (!loginDialog.open) loginDialog.showModal();
}
function showWhoIsHere({ name, required, scopes }) {
  document.body.dataset.orders = String(!required || scopes.includes("operate"));
  const button = byId("log-out");
  button.hidden = !name;
  button.title = name ? `Log out (the token ${name})` : "";
}
onUnauthorised((refused) => askToLogIn(refused.detail || "This mind asks for a token."));
byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = byId("login-token").value.trim();
  const button = byId("login-do");
  if (!token || button.disabled) return;
  button.disabled = true;
  try {
    showWhoIsHere(await logIn(token));
    byId("login-token").value = "";
    loginDialog.close();
    askStatus();
    askWorld();
  } catch (refused) {
    askToLogIn(refused.detail || refused.message);
  } finally {
    button.disabled = false;
  }
});
byId("log-out").addEventListener("click", async () => {
  await logOut();
  location.reload();
});
whoIsHere().then(showWhoIsHere, () => {});

const SHORTCUTS = {
  "?": () => help.showModal(),
  j: () => stream.move(1),
  k: () => stream.move(-1),
  n: () => stream.live(),
  p: () => stream.pause(!stream.paused),
  s: () => {
    view("stream");
    say.focus();
  },
  "/": () => byId("search-words").focus(),
  t: changeTheme,
  1: () => view("stream"),
  2: () => view("network"),
  3: () => view("salience"),
  4: () => view("health"),
  5: () => go(memory.address),
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (typing(event.target) || document.querySelector("dialog:modal")) return;
  if (event.key === "Escape" && panel.open) closePanel();
  if (marks.key(event.key)) return event.preventDefault();
  const act = SHORTCUTS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

window.addEventListener("hashchange", () => route());
window.addEventListener("popstate", () => location.hash || route());
window.addEventListener("online", () => follower.hurry());
window.addEventListener("pagehide", () => follower.stop());
window.addEventListener("pageshow", (event) => event.persisted && follower.start());
setInterval(() => refreshAgo(), AGO_MS);
follower.start();
matters.follow();
