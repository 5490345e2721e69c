// Runs before the first paint: the theme the reader chose, else the system's.
(() => {
  "use strict";
  const KEY = "submind.theme";
  const order = ["auto", "light", "dark"];
  const stored = localStorage.getItem(KEY);
  const root = document.documentElement;
  root.dataset.theme = order.includes(stored) ? stored : "auto";
  window.nextTheme = () => {
    const next = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
    root.dataset.theme = next;
    localStorage.setItem(KEY, next);
    return next;
  };
})();
