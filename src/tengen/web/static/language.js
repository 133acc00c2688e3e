/**
 * Texts in the person's language: strings/LANGUAGE.json, one flat file each, with the same keys.
 *
 *     t("game.to_move", {player: "Black"})      // "{player} to move" → "Black to move"
 */

export const LANGUAGES = /** @type {const} */ ({
  en: "English",
  "zh-Hans": "简体中文",
  "zh-Hant": "繁體中文",
  ru: "Русский",
  vi: "Tiếng Việt",
});

/** @typedef {keyof typeof LANGUAGES} Language */

const KEY = "tengen.language";
/** @type {Record<string, string>} */
let strings = {};
/** @type {Language} */
let current = "en";

/** The text of a key, with its placeholders filled in. @param {string} key @param {Record<string, string|number>} [values] */
export function t(key, values = {}) {
  const text = strings[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** @returns {Language} */
export function language() {
  return current;
}

/** A number as people of this language write it. @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function number(value, options) {
  return new Intl.NumberFormat(current, options).format(value);
}

/** The language that was chosen before, or the browser's, or English. @returns {Language} */
export function preferred() {
  const wanted = [localStorage.getItem(KEY) ?? "", ...navigator.languages];
  for (const tag of wanted) {
    const found = match(tag);
    if (found) return found;
  }
  return "en";
}

/** Loads the texts of a language. @param {Language} tag */
export async function load(tag) {
  const answer = await fetch(`/static/strings/${tag}.json`);
  if (!answer.ok) throw new Error(`no texts for ${tag}`);
  strings = await answer.json();
  current = tag;
  document.documentElement.lang = tag;
}

/** Loads and remembers a language. @param {Language} tag */
export async function choose(tag) {
  await load(tag);
  localStorage.setItem(KEY, tag);
}

/** @param {string} tag such as zh-TW @returns {Language|null} */
function match(tag) {
  if (tag in LANGUAGES) return /** @type {Language} */ (tag);
  const base = tag.toLowerCase();
  if (/^zh-(tw|hk|mo|hant)/.test(base)) return "zh-Hant";
  if (base.startsWith("zh")) return "zh-Hans";
  if (base.startsWith("ru")) return "ru";
  if (base.startsWith("vi")) return "vi";
  return base.startsWith("en") ? "en" : null;
}
