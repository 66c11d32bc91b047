// Light, dark, or as the system has it. The choice is kept for all pages, where the browser keeps anything for them.
const THEMES = ["auto", "light", "dark"];
const KEY = "sluice-theme";

function kept() {
  try {
    return Math.max(0, THEMES.indexOf(localStorage.getItem(KEY)));
  } catch {
    return 0;
  }
}
function keep(next) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // the choice lasts as long as the page
  }
}

// Make `button` change the theme; `redraw` is called after every change. On paper always light, and nothing cut off.
export function themes(button, redraw = () => {}) {
  let chosen = kept();
  const show = (next) => {
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
    redraw();
  };
  button.addEventListener("click", () => {
    chosen = (chosen + 1) % THEMES.length;
    keep(THEMES[chosen]);
    show(THEMES[chosen]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    show("light");
    document.querySelectorAll("details").forEach((d) => (d.open = true));
  });
  addEventListener("afterprint", () => show(THEMES[chosen]));
  show(THEMES[chosen]);
}
