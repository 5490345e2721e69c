// Talking to the mind's HTTP interface: logging in, JSON in and out, problems (RFC 9457) as errors.

const SESSION = "v1/session";
const TIMEOUT_MS = 15_000;
/** Wrong tokens are answered ever more slowly. */
const LOG_IN_MS = 60_000;

/** What the server, or the way to it, refused: `status` 0 means that no answer came. */
export class Problem extends Error {
  constructor(status, title, detail = "", fields = []) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.fields = fields;
  }
}

const waiting = new Set();
const listeners = new Set();

/** Call `listener` whenever the server asks to log in. */
export function onUnauthorised(listener) {
  listeners.add(listener);
}

/**
 * Show a token once. From then on a cookie stands for it, which no script can read: the token is kept nowhere here.
 * Wakes whoever waits for it, and answers who is logged in. Throws a `Problem` when the token does not hold.
 */
export async function logIn(token) {
  const session = await post(SESSION, { token }, { quiet: true, timeout: LOG_IN_MS });
  for (const wake of waiting) wake();
  waiting.clear();
  return session;
}

/** Take the cookie back. */
export async function logOut() {
  await request(SESSION, { method: "DELETE", signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Who is logged in: `{required, name, scopes}`. */
export async function whoIsHere() {
  return get(SESSION);
}

/** Resolves when somebody has logged in. */
export function loggedIn() {
  return new Promise((resolve) => waiting.add(resolve));
}

async function problem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // Not JSON: the status line has to do.
  }
  const fields = Array.isArray(body.errors) ? body.errors : [];
  const detail = typeof body.detail === "string" ? body.detail : "";
  return new Problem(response.status, body.title || response.statusText || `HTTP ${response.status}`, detail, fields);
}

/** `fetch` that answers only with success; everything else is a `Problem`. */
export async function request(path, { accept = "application/json", quiet = false, ...options } = {}) {
  let response;
  try {
    response = await fetch(path, {
      cache: "no-store",
      credentials: "same-origin",
      ...options,
      headers: { Accept: accept, ...options.headers },
    });
  } catch (error) {
    if (options.signal?.aborted && options.signal.reason?.name === "AbortError") throw error;
    throw new Problem(0, "No answer from the mind");
  }
  if (response.ok) return response;
  const refused = await problem(response);
  if (refused.status === 401 && !quiet) for (const listener of listeners) listener(refused);
  throw refused;
}

/** GET a JSON object; parameters that are empty are left out, a list is given item by item. */
export async function get(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) for (const one of value) query.append(name, String(one));
    else if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  const target = query.size ? `${path}?${query}` : path;
  return (await request(target, { signal: AbortSignal.timeout(TIMEOUT_MS) })).json();
}

/** The response to a JSON object that is posted; options as those of `request`. */
export function send(path, body, options) {
  return request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    ...options,
  });
}

/** POST a JSON object. */
export async function post(path, body, { quiet = false, timeout = TIMEOUT_MS } = {}) {
  return (await send(path, body, { quiet, signal: AbortSignal.timeout(timeout) })).json();
}

/** The list in an answer, whether it stands alone or under a name. */
export function list(answer, name) {
  if (Array.isArray(answer)) return answer;
  return Array.isArray(answer?.[name]) ? answer[name] : [];
}
