// Building elements. Text from outside only ever becomes a text node here; nothing is parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function apply(node, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.setAttribute("class", value);
    else if (name === "text") node.textContent = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
}

/** An HTML element with attributes, `text`, `data` (dataset), `on` (listeners) and children (nodes or plain text). */
export function el(tag, props, ...children) {
  const node = apply(document.createElement(tag), props);
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/** The same for SVG. */
export function svg(tag, props, ...children) {
  const node = apply(document.createElementNS(SVG, tag), props);
  node.append(...children.filter(Boolean));
  return node;
}

/** The element with that id; a missing one is a mistake of this page and says so. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`index.html has no #${id}`);
  return node;
}

/** True while the viewport is too narrow for two columns: the instruments are tabs and the panel is modal. */
export const narrow = window.matchMedia("(max-width: 1019px)");

/** True for readers who asked their system for less motion. */
export const still = window.matchMedia("(prefers-reduced-motion: reduce)");

/** What a store of this browser (`localStorage` or `sessionStorage`) keeps under a key; null where it may not be used. */
export function recall(store, key) {
  try {
    return window[store].getItem(key);
  } catch {
    return null;
  }
}

/** Keep something under a key, or forget it with null. Where the browser keeps nothing, it lasts for no longer than the page. */
export function keep(store, key, value) {
  try {
    if (value === null) window[store].removeItem(key);
    else window[store].setItem(key, value);
  } catch {
    // Refused by the reader's settings: nothing depends on it.
  }
}

let announcing = 0;

/** Say something to screen readers, politely; what comes within a moment replaces what was not yet said. */
export function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    byId("announcer").textContent = text;
  }, 150);
}

/** True where a key press means text, so that shortcuts keep out of the way. */
export function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
