// Runs before the first paint: the theme the reader chose, else the system's.
(() => {
  "use strict";
  const KEY = "submind.theme";
  const order = ["auto", "light", "dark"];
  let stored = null;
  try {
    stored = localStorage.getItem(KEY);
  } catch {
    // Refused by the reader's settings: the system's theme it is.
  }
  const root = document.documentElement;
  root.dataset.theme = order.includes(stored) ? stored : "auto";
  window.nextTheme = () => {
    const next = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
    root.dataset.theme = next;
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Lasts as long as the page.
    }
    return next;
  };
})();
