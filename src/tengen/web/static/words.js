/** How the page speaks of players, values and endings, in the person's language. */

import {number, t} from "./language.js";

/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").MoveInfo} MoveInfo */

/** What a board looks like; "paper" is for noughts and crosses. @param {{look: string, rows: number, cols: number}} game */
export function lookOf({look, rows, cols}) {
  return look === "squares" && Math.max(rows, cols) <= 3 ? "paper" : look;
}

/** The colours of the first and the second player. @param {{look: string, rows: number, cols: number}} game */
export function colors(game) {
  const look = lookOf(game);
  if (look === "columns") return [t("color.red"), t("color.yellow")];
  if (look === "hexagons") return [t("color.red"), t("color.blue")];
  if (look === "paper") return [t("color.cross"), t("color.circle")];
  return [t("color.black"), t("color.white")];
}

/** Who sits at a side: "You", "Level 5". @param {State} state @param {1|2} side */
export function seatName(state, side) {
  const seat = state.seats[side - 1];
  if (seat.kind === "level") return t("player.level", {level: seat.level ?? 0});
  if (seat.kind === "perfect") return t("player.perfect");
  const isTwoPeople = state.seats.every((one) => one.is_person);
  return isTwoPeople ? t(`player.person_${side}`) : t("player.person");
}

/** Who is to move, or how the game ended. @param {State} state */
export function statusOf(state) {
  const names = colors(state);
  if (state.ending) {
    const {winner, reason, detail} = state.ending;
    if (winner === null) return t("game.draw");
    return t(reason === "board" ? "game.wins" : `game.wins_${reason}`, {player: names[winner - 1], detail});
  }
  const player = names[state.to_move - 1];
  return state.is_thinking ? t("game.thinking", {player}) : t("game.to_move", {player});
}

/** A value from -1 to 1 with its sign: +0.31. @param {number} value */
export function signed(value) {
  return number(value, {signDisplay: "exceptZero", minimumFractionDigits: 2, maximumFractionDigits: 2});
}

/** What an analysis says of a move: its value, or its proven end. @param {MoveInfo} info */
export function verdict(info) {
  if (info.proven === "draw") return t("analysis.draw");
  if (info.proven && info.distance !== null) {
    const plies = info.is_exact ? number(info.distance) : t("analysis.at_most", {plies: info.distance});
    return t(info.proven === "win" ? "analysis.win_in" : "analysis.loss_in", {plies});
  }
  return info.value === null ? "" : signed(info.value);
}
