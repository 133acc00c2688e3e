/** Light, dark or high contrast: as the system says, unless the person chose one. */

export const THEMES = /** @type {const} */ (["system", "light", "dark", "contrast"]);

/** @typedef {typeof THEMES[number]} Theme */

const KEY = "tengen.theme";

/** @returns {Theme} */
export function theme() {
  const chosen = localStorage.getItem(KEY);
  return THEMES.find((one) => one === chosen) ?? "system";
}

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
  localStorage.setItem(KEY, chosen);
  showTheme();
}

export function showTheme() {
  document.documentElement.dataset.theme = theme();
}
