/**
 * A game in the address of the page, so that it can be shared and reloaded: who plays, and the moves.
 *
 *     #game=gomoku15&first=person&second=level5&moves=h8,h9,i8
 */

/** @typedef {import("./types.js").Seat} Seat */
/** @typedef {import("./types.js").SeatState} SeatState */

/**
 * @typedef {object} Shared
 * @property {string} game
 * @property {Seat} first
 * @property {Seat} second
 * @property {string[]} moves
 */

/** @param {string} game @param {SeatState[]} seats @param {string[]} moves */
export function toHash(game, seats, moves) {
  const [first, second] = seats.map((seat) => (seat.kind === "level" ? `level${seat.level}` : seat.kind ?? "person"));
  const parts = {game, first, second, ...(moves.length ? {moves: moves.join(",")} : {})};
  return `#${Object.entries(parts).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
}

/** What an address says; null if it names no game. @param {string} hash @returns {Shared|null} */
export function fromHash(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const game = found.get("game");
  if (!game) return null;
  const moves = (found.get("moves") ?? "").split(",").filter((move) => move);
  return {game, first: seat(found.get("first")), second: seat(found.get("second")), moves};
}

/** @param {string|null} text @returns {Seat} */
function seat(text) {
  const level = /^level(\d{1,2})$/.exec(text ?? "");
  if (level) return {kind: "level", level: Number(level[1])};
  return {kind: text === "perfect" ? "perfect" : "person"};
}
