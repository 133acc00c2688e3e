/** Where the cells of a board lie, and what they are called. Distances are in units of a picture: a cell is 40. */

/** @typedef {import("./types.js").Look} Look */
/** @typedef {import("./types.js").Game} Game */

export const CELL = 40;
const MARGIN = 30; // for the coordinates
const HEX_EDGE = CELL / Math.sqrt(3);
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** The board of a game: places, names and neighbours of its cells, row by row from the top. */
export class Geometry {
  /** @param {Pick<Game, "rows"|"cols"|"look"|"kind"|"row_one">} game */
  constructor({rows, cols, look, kind, row_one}) {
    this.rows = rows;
    this.cols = cols;
    this.look = look;
    this.kind = kind;
    this.rowOneIsTop = row_one === "top";
    const [right, bottom] = this.center((rows - 1) * cols + cols - 1);
    this.width = Math.ceil(right + CELL / 2 + MARGIN);
    this.height = Math.ceil(bottom + CELL / 2 + MARGIN);
    this.radius = {points: 18.5, squares: 16, columns: 16.5, hexagons: 14}[look];
  }

  /** The middle of a cell. @param {number} cell @returns {[number, number]} */
  center(cell) {
    const row = Math.floor(cell / this.cols), col = cell % this.cols;
    if (this.look === "hexagons") {
      return [MARGIN + CELL * (col + row / 2 + 0.5), MARGIN + CELL / 2 + HEX_EDGE * 1.5 * row];
    }
    return [MARGIN + CELL * (col + 0.5), MARGIN + CELL * (row + 0.5)];
  }

  /** "h8": a letter for the column, and the row. @param {number} cell */
  cellName(cell) {
    return `${this.columnName(cell % this.cols)}${this.rowName(Math.floor(cell / this.cols))}`;
  }

  /** @param {number} col */
  columnName(col) {
    return this.kind === "columns" ? `${col + 1}` : LETTERS[col] ?? `${col + 1}`;
  }

  /** @param {number} row */
  rowName(row) {
    if (this.kind === "columns") return "";
    return `${this.rowOneIsTop ? row + 1 : this.rows - row}`;
  }

  /** The move that a click on a cell means. @param {number} cell */
  move(cell) {
    return this.kind === "columns" ? `${(cell % this.cols) + 1}` : this.cellName(cell);
  }

  /**
   * The cell on which a move ends; null for a pass. In Connect 4: the cell where the disc lies, or would lie.
   * @param {string} move
   * @param {number[]} cells
   * @param {boolean} isPlayed
   * @returns {number|null}
   */
  cellOf(move, cells, isPlayed = false) {
    if (this.kind === "columns") {
      const col = Number(move) - 1;
      const rows = [...Array(this.rows).keys()].filter((row) => cells[row * this.cols + col] === 0);
      const row = isPlayed ? rows.length : rows.length - 1;
      return row < 0 || row >= this.rows ? null : row * this.cols + col;
    }
    const found = /([a-z])(\d+)$/.exec(move);
    if (!found) return null;
    const col = LETTERS.indexOf(found[1]), line = Number(found[2]);
    return (this.rowOneIsTop ? line - 1 : this.rows - line) * this.cols + col;
  }

  /**
   * The cell that an arrow key leads to; the same one at the edge.
   * @param {number} cell
   * @param {string} key
   */
  neighbour(cell, key) {
    const row = Math.floor(cell / this.cols), col = cell % this.cols;
    /** @type {Record<string, [number, number]>} */
    const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    if (key === "Home") return row * this.cols;
    if (key === "End") return row * this.cols + this.cols - 1;
    const [down, right] = steps[key] ?? [0, 0];
    const r = Math.min(Math.max(row + down, 0), this.rows - 1), c = Math.min(Math.max(col + right, 0), this.cols - 1);
    return r * this.cols + c;
  }

  /** The corners of a hexagonal cell, as an SVG path. @param {number} cell @param {number} [size] */
  hexagon(cell, size = HEX_EDGE) {
    const [x, y] = this.center(cell);
    const corners = [...Array(6).keys()].map((i) => {
      const angle = (Math.PI / 3) * i + Math.PI / 6;
      return `${(x + size * Math.cos(angle)).toFixed(2)} ${(y + size * Math.sin(angle)).toFixed(2)}`;
    });
    return `M${corners.join("L")}Z`;
  }

  /** The cells with a star point: on a board of odd size the centre, and four more on a large one. */
  stars() {
    const {rows, cols} = this;
    if (this.look !== "points" || rows < 7 || cols < 7) return [];
    const edge = rows >= 13 && cols >= 13 ? 3 : 2;
    /** @param {number} size */
    const lines = (size) => [edge, size - 1 - edge];
    const found = lines(rows).flatMap((row) => lines(cols).map((col) => row * cols + col));
    if (rows % 2 && cols % 2) found.push(((rows - 1) / 2) * cols + (cols - 1) / 2);
    return found;
  }
}
