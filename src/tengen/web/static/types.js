/**
 * The values that travel between the page and an engine, as types for the editor and for `tsc --checkJs`.
 * docs/web.md explains them; session_json.py and snapshot.py make them.
 *
 * @typedef {"points"|"squares"|"columns"|"hexagons"} Look
 *
 * @typedef {object} Level
 * @property {number} level from 1 to 10
 * @property {number|null} elo null: not measured
 * @property {number|null} low
 * @property {number|null} high
 *
 * @typedef {object} Game
 * @property {string} name "gomoku15"
 * @property {string} summary
 * @property {string} family
 * @property {number} rows
 * @property {number} cols
 * @property {Look} look
 * @property {"cells"|"columns"|"kinds"|"pairs"|"general"} kind what an action is
 * @property {"top"|"bottom"} row_one where the first row is
 * @property {string|null} network
 * @property {string} note
 * @property {boolean} can_set_up
 * @property {boolean} can_solve
 * @property {Level[]} levels
 *
 * @typedef {object} Seat
 * @property {"person"|"level"|"perfect"} kind
 * @property {number} [level]
 *
 * @typedef {object} SeatState
 * @property {string} name
 * @property {boolean} is_person
 * @property {"person"|"level"|"perfect"} [kind]
 * @property {number|null} [level]
 *
 * @typedef {object} Node
 * @property {number} id
 * @property {number|null} parent
 * @property {string|null} move
 * @property {string} [comment]
 * @property {number} [value] for the first player
 * @property {string} [judgement]
 *
 * @typedef {object} Clock
 * @property {number} left seconds
 * @property {number} increment seconds
 *
 * @typedef {object} Clocks
 * @property {Clock|null} first
 * @property {Clock|null} second
 * @property {1|2|null} running
 *
 * @typedef {object} Ending
 * @property {1|2|null} winner
 * @property {"board"|"resigned"|"time"|"failed"} reason
 * @property {string} detail
 *
 * @typedef {object} State
 * @property {string} game
 * @property {number} rows
 * @property {number} cols
 * @property {Look} look
 * @property {number[]} cells 0 empty, 1, 2, 3 forbidden
 * @property {string[]} moves
 * @property {string|null} last_move
 * @property {1|2} to_move
 * @property {string[]} legal_moves
 * @property {number[]} winning
 * @property {Node[]} nodes
 * @property {number} current
 * @property {number} tip
 * @property {[SeatState, SeatState]} seats
 * @property {Clocks|null} clocks
 * @property {string} result
 * @property {Ending|null} ending
 * @property {boolean} can_undo
 * @property {boolean} can_redo
 * @property {boolean} is_looking
 * @property {Record<string, string>} forbidden
 * @property {boolean} is_thinking
 * @property {boolean} analysing
 * @property {number|null} suggested_level
 *
 * @typedef {object} MoveInfo
 * @property {string} move
 * @property {number} visits
 * @property {number|null} prior
 * @property {number|null} value for the player to move
 * @property {"win"|"loss"|"draw"|null} proven
 * @property {number|null} distance
 * @property {boolean} is_exact
 * @property {string[]} line
 *
 * @typedef {object} Snapshot
 * @property {number} to_move
 * @property {number} simulations
 * @property {number} value for the player to move
 * @property {string|null} best
 * @property {MoveInfo[]} moves
 * @property {number} nodes
 * @property {number} depth
 * @property {number} seconds
 * @property {boolean} is_final
 * @property {(number|null)[]} [exact] of every column
 *
 * @typedef {object} Judged
 * @property {number} node
 * @property {string} move
 * @property {string} judgement
 * @property {number} before for the player who moved
 * @property {number} after
 * @property {string|null} better
 * @property {string[]} line
 */

export {};
