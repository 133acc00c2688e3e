/** The dialog in which a person chooses a game, an opponent, a side and a clock. */

import {html} from "./elements.js";
import {t} from "./language.js";

/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").Seat} Seat */

/**
 * @typedef {object} NewGame
 * @property {string} game
 * @property {Seat} first
 * @property {Seat} second
 * @property {{seconds: number, increment: number}|null} clock
 */

const CLOCKS = [[1, 1], [3, 2], [10, 5]]; // minutes, and seconds added per move
const CHOICE = "tengen.new_game";

/** @typedef {{game: string, opponent: string, level: number, side: string, clock: string}} Choice */

/** @returns {Choice} */
function lastChoice() {
  const usual = {game: "connect4", opponent: "computer", level: 3, side: "first", clock: ""};
  try {
    return {...usual, ...JSON.parse(localStorage.getItem(CHOICE) ?? "{}")};
  } catch {
    return usual; // somebody else wrote there
  }
}

/** The options of a group of radio buttons. @param {string} name @param {string} legend @param {[string, string][]} options @param {string} chosen */
function choices(name, legend, options, chosen) {
  return html("fieldset", {class: "choices"}, html("legend", {}, legend),
    ...options.map(([value, label]) => html("label", {},
      html("input", {type: "radio", name, value, checked: value === chosen}), html("span", {}, label))));
}

/**
 * Asks for a new game; null if the dialog was closed.
 * @param {Game[]} games
 * @param {number|null} suggested a level
 * @returns {Promise<NewGame|null>}
 */
export function askForGame(games, suggested) {
  const last = lastChoice();
  const families = [...new Set(games.map((game) => game.family))];
  const select = html("select", {name: "game", id: "new-game"}, ...families.map((family) =>
    html("optgroup", {label: t(`family.${family}`)}, ...games.filter((game) => game.family === family).map((game) =>
      html("option", {value: game.name, selected: game.name === last.game},
        t("new.game_and_size", {game: t(`family.${family}`), rows: game.rows, cols: game.cols}))))));
  const level = html("input", {type: "range", name: "level", id: "new-level", min: 1, max: 10, value: suggested ?? last.level});
  const levelText = html("output", {for: "new-level", class: "hint"});
  const levels = html("div", {class: "field"}, html("label", {for: "new-level"}, t("new.level_label")), level, levelText,
    suggested === null ? null : html("p", {class: "hint"}, t("new.suggested", {level: suggested})));
  const side = choices("side", t("new.side"), [["first", t("new.first")], ["second", t("new.second")], ["random", t("new.random")]], last.side);
  const opponents = html("div");
  /** @type {[string, string][]} */
  const clocks = [["", t("new.clock_none")], ...CLOCKS.map(([minutes, increment]) =>
    /** @type {[string, string]} */ ([`${minutes}+${increment}`, t("new.clock_value", {minutes, increment})]))];
  const form = html("form", {method: "dialog"},
    html("h2", {}, t("new.title")),
    html("div", {class: "field"}, html("label", {for: "new-game"}, t("new.game")), select),
    opponents, levels, side, choices("clock", t("new.clock"), clocks, last.clock),
    html("div", {class: "buttons"},
      html("button", {value: "cancel", formnovalidate: true}, t("new.cancel")),
      html("button", {value: "start", class: "primary"}, t("new.start"))));
  const dialog = html("dialog", {class: "new-game", "aria-label": t("new.title")}, form);
  const chosen = () => {
    const data = new FormData(form);
    const text = (/** @type {string} */ name) => String(data.get(name) ?? "");
    return {game: text("game"), opponent: text("opponent"), level: Number(text("level")), side: text("side"), clock: text("clock")};
  };
  const refresh = () => {
    const {game: name, opponent} = chosen();
    const game = games.find((one) => one.name === name) ?? games[0];
    const kinds = ["computer", ...(game.can_solve ? ["perfect"] : []), "friend", "free"];
    const kind = kinds.includes(opponent || last.opponent) ? opponent || last.opponent : "computer";
    opponents.replaceChildren(choices("opponent", t("new.opponent"), kinds.map((one) => [one, t(`new.${one}`)]), kind));
    levels.hidden = kind !== "computer";
    side.hidden = kind !== "computer" && kind !== "perfect";
    showLevel(game);
  };
  const showLevel = (/** @type {Game} */ game) => {
    const found = game.levels.find((one) => one.level === Number(level.value));
    const words = t("new.level", {level: level.value});
    const elo = found?.elo ?? null;
    levelText.value = elo === null ? `${words}. ${t("new.level_unmeasured")}`
      : `${words}. ${t("new.level_elo", {elo, low: found?.low ?? "", high: found?.high ?? ""})}`;
  };
  form.addEventListener("change", (event) => {
    const name = /** @type {HTMLInputElement} */ (event.target).name;
    if (name === "game" || name === "opponent") refresh();
  });
  level.addEventListener("input", () => showLevel(games.find((game) => game.name === select.value) ?? games[0]));
  refresh();
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    const choice = chosen();
    dialog.remove();
    if (dialog.returnValue !== "start") return resolve(null);
    localStorage.setItem(CHOICE, JSON.stringify(choice));
    resolve(toGame(choice));
  }));
}

/** @param {Choice} choice @returns {NewGame} */
function toGame({game, opponent, level, side, clock}) {
  /** @type {Seat} */
  const person = {kind: "person"};
  /** @type {Seat} */
  const other = opponent === "computer" ? {kind: "level", level} : {kind: opponent === "perfect" ? "perfect" : "person"};
  const isFirst = side === "random" ? Math.random() < 0.5 : side !== "second";
  const [minutes, increment] = clock ? clock.split("+").map(Number) : [0, 0];
  return {
    game,
    first: isFirst ? person : other,
    second: isFirst ? other : person,
    clock: clock ? {seconds: 60 * minutes, increment} : null,
  };
}
