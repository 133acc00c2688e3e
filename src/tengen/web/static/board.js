/**
 * <tengen-board>: a board that is looked at, clicked, tapped, and played by keyboard alone.
 *
 * A picture (SVG) shows it; above the picture lies a grid of cells without a look of their own. They take clicks and
 * focus, and say to a screen reader what is on them. One of them is in the tab order, arrow keys lead to the others.
 *
 *     board.game = game;                       // a Game: draws the empty board
 *     board.position = {cells, legal, …};      // draws the stones
 *     board.marks = [{cell, …}];               // what an analysis says, over the stones
 *     board.addEventListener("move", (event) => play(event.detail.move));
 */

import {html, svg} from "./elements.js";
import {CELL, Geometry} from "./geometry.js";
import {t} from "./language.js";
import {lookOf} from "./words.js";

/** @typedef {import("./types.js").Game} Game */

/**
 * @typedef {object} BoardPosition
 * @property {number[]} cells
 * @property {Set<string>} legal moves that may be clicked; empty: none
 * @property {number|null} last the cell of the last move
 * @property {number[]} winning
 * @property {Record<string, string>} forbidden reasons, by move
 * @property {1|2} toMove
 * @property {number[]} ghosts cells of a line that is shown but not played, in order; the player to move first
 */

/**
 * @typedef {object} Mark what is drawn on an empty cell
 * @property {number} cell
 * @property {number} heat from 0 to 1
 * @property {string} label
 * @property {boolean} isBest
 * @property {"win"|"loss"|"draw"|null} proven
 */

const SMALL = 28; // pixels of a cell: below this, a touch must be confirmed

export class Board extends HTMLElement {
  /** @type {Geometry|null} */ #geometry = null;
  /** @type {BoardPosition|null} */ #position = null;
  /** @type {HTMLElement[]} */ #cells = [];
  /** @type {Record<string, SVGElement>} */ #layers = {};
  #focus = 0;
  /** @type {number|null} */ #pending = null; // the cell of a first tap
  #isNoughts = false;

  /** @param {Game} game */
  set game(game) {
    const geometry = new Geometry(game);
    this.#geometry = geometry;
    this.#isNoughts = lookOf(game) === "paper";
    this.#focus = Math.floor(game.rows / 2) * game.cols + Math.floor(game.cols / 2);
    this.#pending = null;
    this.dataset.look = lookOf(game);
    const picture = this.#drawBoard(geometry);
    this.#layers = {};
    for (const name of ["heat", "stones", "frame", "marks", "ghosts", "tap"]) {
      picture.append((this.#layers[name] = svg("g", {class: name})));
    }
    if (game.look === "columns") this.#layers.frame.append(this.#drawFrame(geometry));
    this.#cells = [];
    const grid = html("div", {class: "cells", role: "grid", "aria-label": t("board.label", {game: game.name})});
    for (let row = 0; row < game.rows; row++) {
      const line = html("div", {role: "row"});
      for (let col = 0; col < game.cols; col++) line.append(this.#makeCell(row * game.cols + col, geometry));
      grid.append(line);
    }
    grid.addEventListener("keydown", (event) => this.#key(event));
    grid.addEventListener("pointerleave", () => this.#hover(null));
    this.replaceChildren(picture, grid);
  }

  /** @param {BoardPosition} position */
  set position(position) {
    const before = this.#position;
    this.#position = position;
    this.#pending = null;
    this.#layers.tap.replaceChildren();
    this.#drawStones(before);
    this.#cells.forEach((cell, number) => {
      cell.setAttribute("aria-label", this.#describe(number));
      const move = this.#move(number);
      cell.classList.toggle("legal", position.legal.has(move));
      cell.title = position.forbidden[move] ?? "";
    });
  }

  /** @param {Mark[]} marks */
  set marks(marks) {
    const geometry = this.#geometry;
    if (!geometry) return;
    this.#layers.heat.replaceChildren(...marks.filter((mark) => mark.heat > 0).map((mark) => {
      const [x, y] = geometry.center(mark.cell);
      const size = CELL * (0.35 + 0.6 * Math.sqrt(mark.heat));
      const shape = {x: x - size / 2, y: y - size / 2, width: size, height: size, rx: size / 5};
      return svg("rect", {...shape, class: mark.isBest ? "best" : "", opacity: (0.2 + 0.55 * mark.heat).toFixed(2)});
    }));
    this.#layers.marks.replaceChildren(...marks.filter((mark) => mark.label).map((mark) => {
      const [x, y] = geometry.center(mark.cell);
      const classes = ["label", mark.isBest ? "best" : "", mark.proven ?? ""].join(" ").trim();
      return svg("text", {x, y: y + 4, class: classes}, mark.label);
    }));
  }

  /** Gives the keyboard's focus to the board. */
  focusCell() {
    this.#cells[this.#focus]?.focus();
  }

  /** @param {number} cell */
  #move(cell) {
    return this.#geometry?.move(cell) ?? "";
  }

  /** @param {number} number @param {Geometry} geometry */
  #makeCell(number, geometry) {
    const [x, y] = geometry.center(number);
    const cell = html("div", {role: "gridcell", class: "cell", tabindex: number === this.#focus ? 0 : -1});
    cell.style.left = `${(100 * (x - CELL / 2)) / geometry.width}%`;
    cell.style.top = `${(100 * (y - CELL / 2)) / geometry.height}%`;
    cell.style.width = `${(100 * CELL) / geometry.width}%`;
    cell.style.height = `${(100 * CELL) / geometry.height}%`;
    cell.dataset.cell = geometry.cellName(number);
    cell.addEventListener("click", (event) => this.#click(number, /** @type {PointerEvent} */ (event)));
    cell.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.#hover(number));
    cell.addEventListener("focus", () => this.#moveFocus(number));
    this.#cells[number] = cell;
    return cell;
  }

  /** @param {number} number @param {PointerEvent} event */
  #click(number, event) {
    const cell = this.#cells[number], move = this.#move(number);
    this.#moveFocus(number);
    const isTouch = event.pointerType === "touch" || event.pointerType === "pen";
    const mustConfirm = isTouch && cell.getBoundingClientRect().width < SMALL;
    if (mustConfirm && this.#pending !== number && this.#position?.legal.has(move)) {
      this.#pending = number;
      this.#drawTap(number);
      this.dispatchEvent(new CustomEvent("considered", {detail: move}));
      return;
    }
    this.#pending = null;
    this.#layers.tap.replaceChildren();
    this.dispatchEvent(new CustomEvent("move", {detail: {move, cell: number}}));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const geometry = this.#geometry;
    if (!geometry || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      this.dispatchEvent(new CustomEvent("move", {detail: {move: this.#move(this.#focus), cell: this.#focus}}));
    } else {
      const next = geometry.neighbour(this.#focus, event.key);
      if (!event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
      this.#moveFocus(next);
      this.#cells[next].focus();
    }
    event.preventDefault();
    event.stopPropagation(); // arrow keys step through the game elsewhere on the page
  }

  /** @param {number} number */
  #moveFocus(number) {
    this.#cells[this.#focus].tabIndex = -1;
    this.#focus = number;
    this.#cells[number].tabIndex = 0;
  }

  /** @param {number} number */
  #describe(number) {
    const geometry = this.#geometry, position = this.#position;
    if (!geometry || !position) return "";
    const name = geometry.kind === "columns"
      ? t("board.column_row", {column: (number % geometry.cols) + 1, row: geometry.rows - Math.floor(number / geometry.cols)})
      : geometry.cellName(number);
    const value = position.cells[number], reason = position.forbidden[this.#move(number)];
    const what = value === 1 ? t("board.first") : value === 2 ? t("board.second") : reason ? t("board.forbidden", {reason}) : t("board.empty");
    return number === position.last ? t("board.last_cell", {name, what}) : `${name}, ${what}`;
  }

  /** Shows where a stone would go. @param {number|null} number */
  #hover(number) {
    const geometry = this.#geometry, position = this.#position;
    this.#layers.tap.replaceChildren();
    if (number === null || !geometry || !position?.legal.has(this.#move(number))) return;
    const cell = geometry.cellOf(this.#move(number), position.cells);
    if (cell !== null) this.#layers.tap.append(this.#stone(cell, position.toMove, "hover"));
  }

  /** A first tap on a small board: a large ghost stone, and lines to both edges. @param {number} number */
  #drawTap(number) {
    const geometry = this.#geometry, position = this.#position;
    if (!geometry || !position) return;
    const [x, y] = geometry.center(number);
    const ghost = this.#stone(number, position.toMove, "tapped");
    this.#layers.tap.replaceChildren(
      svg("path", {class: "crosshair", d: `M0 ${y}H${geometry.width}M${x} 0V${geometry.height}`}),
      ghost,
    );
  }

  /** @param {BoardPosition|null} before */
  #drawStones(before) {
    const geometry = this.#geometry, position = this.#position;
    if (!geometry || !position) return;
    const stones = [];
    position.cells.forEach((value, cell) => {
      const was = before?.cells.length === position.cells.length ? before.cells[cell] : 0;
      const [x, y] = geometry.center(cell);
      if (value === 1 || value === 2) {
        const isNew = before !== null && was !== value;
        const how = !isNew ? "" : was === 0 || was === 3 ? (cell === position.last ? "new" : "") : "flipped";
        stones.push(this.#stone(cell, value, how));
      } else if (value === 3) {
        stones.push(svg("path", {class: "forbidden", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10`}));
      }
    });
    stones.push(...this.#legalDots(geometry, position));
    if (position.last !== null) {
      const [x, y] = geometry.center(position.last);
      stones.push(svg("circle", {class: "last", cx: x, cy: y, r: 5}));
    }
    if (position.winning.length > 1) {
      const places = position.winning.map((cell) => geometry.center(cell));
      const isRow = geometry.look !== "hexagons";
      const ends = isRow ? [places[0], places[places.length - 1]] : [];
      if (isRow) stones.push(svg("path", {class: "winning", d: `M${ends[0]}L${ends[1]}`}));
      else for (const [x, y] of places) stones.push(svg("circle", {class: "winning", cx: x, cy: y, r: 6}));
    }
    this.#layers.stones.replaceChildren(...stones);
    this.#layers.ghosts.replaceChildren(...position.ghosts.flatMap((cell, i) => {
      const player = i % 2 === 0 ? position.toMove : 3 - position.toMove;
      const [x, y] = geometry.center(cell);
      return [this.#stone(cell, player, "ghost"), svg("text", {x, y: y + 5, class: `number of-${player}`}, `${i + 1}`)];
    }));
  }

  /** Dots where a move is possible, in games where it is not possible on every empty cell. @param {Geometry} geometry @param {BoardPosition} position */
  #legalDots(geometry, position) {
    const isFree = position.cells.map((value) => value === 0);
    if (geometry.kind === "columns" || isFree.filter(Boolean).length <= position.legal.size) return [];
    return isFree.flatMap((free, cell) => {
      const [cx, cy] = geometry.center(cell);
      return free && position.legal.has(this.#move(cell)) ? [svg("circle", {class: "possible", cx, cy, r: 4.5})] : [];
    });
  }

  /** A stone, or a cross or circle on paper. @param {number} cell @param {number} player @param {string} how */
  #stone(cell, player, how) {
    const geometry = /** @type {Geometry} */ (this.#geometry);
    const [x, y] = geometry.center(cell);
    const r = geometry.radius, classes = `stone player-${player} ${how}`.trim();
    const place = svg("g", {class: classes, transform: `translate(${x} ${y})`});
    if (this.#isNoughts && player === 1) place.append(svg("path", {d: "M-10 -10L10 10M10 -10L-10 10"}));
    else if (this.#isNoughts) place.append(svg("circle", {r: 11}));
    else {
      const disc = svg("circle", {r, class: "disc"});
      if (how === "new" && geometry.look === "columns") {
        disc.style.setProperty("--fall", `${-(y + CELL)}px`);
        disc.classList.add("falling");
      }
      place.append(disc);
      if (player === 2) place.append(svg("circle", {r: r - 5, class: "inner"})); // a shape as well as a colour
    }
    return place;
  }

  /** @param {Geometry} geometry */
  #drawBoard(geometry) {
    const {rows, cols, width, height, look} = geometry;
    const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false"});
    picture.append(svg("rect", {class: "wood", width, height, rx: 10}));
    const cells = [...Array(rows * cols).keys()];
    if (this.#isNoughts || look === "squares") {
      const [x, y] = geometry.center(0);
      if (!this.#isNoughts) {
        picture.append(svg("rect", {class: "field", x: x - CELL / 2, y: y - CELL / 2, width: cols * CELL, height: rows * CELL}));
      }
      const lines = [];
      const edge = this.#isNoughts ? 1 : 0;
      for (let i = edge; i <= rows - edge; i++) lines.push(`M${x - CELL / 2} ${y + (i - 0.5) * CELL}h${cols * CELL}`);
      for (let i = edge; i <= cols - edge; i++) lines.push(`M${x + (i - 0.5) * CELL} ${y - CELL / 2}v${rows * CELL}`);
      picture.append(svg("path", {class: "lines", d: lines.join("")}));
    } else if (look === "points") {
      const lines = [];
      for (let row = 0; row < rows; row++) lines.push(`M${geometry.center(row * cols)}L${geometry.center(row * cols + cols - 1)}`);
      for (let col = 0; col < cols; col++) lines.push(`M${geometry.center(col)}L${geometry.center((rows - 1) * cols + col)}`);
      picture.append(svg("path", {class: "lines", d: lines.join("")}));
      for (const cell of geometry.stars()) {
        const [cx, cy] = geometry.center(cell);
        picture.append(svg("circle", {class: "star", cx, cy, r: 3.2}));
      }
    } else if (look === "hexagons") {
      picture.append(...this.#hexSides(geometry));
      picture.append(svg("path", {class: "field", d: cells.map((cell) => geometry.hexagon(cell)).join("")}));
    }
    picture.append(this.#coordinates(geometry));
    return picture;
  }

  /** The sides that each player of Hex connects. @param {Geometry} geometry */
  #hexSides({rows, cols, center}) {
    const at = (/** @type {number} */ cell) => center.call({rows, cols, look: "hexagons"}, cell);
    const [a, b, c, d] = [at(0), at(cols - 1), at((rows - 1) * cols + cols - 1), at((rows - 1) * cols)];
    const side = (/** @type {number[]} */ p, /** @type {number[]} */ q, /** @type {number[]} */ shift, /** @type {number} */ player) =>
      svg("path", {class: `side of-${player}`, d: `M${p[0] + shift[0]} ${p[1] + shift[1]}L${q[0] + shift[0]} ${q[1] + shift[1]}`});
    return [side(a, b, [0, -22], 1), side(d, c, [0, 22], 1), side(a, d, [-19, 11], 2), side(b, c, [19, -11], 2)];
  }

  /** The blue front of Connect 4, with a hole for every cell: discs fall behind it. @param {Geometry} geometry */
  #drawFrame(geometry) {
    const {rows, cols, radius} = geometry;
    const [x, y] = geometry.center(0);
    const outside = `M${x - CELL / 2 - 4} ${y - CELL / 2 - 4}h${cols * CELL + 8}v${rows * CELL + 8}h${-(cols * CELL + 8)}Z`;
    const holes = [...Array(rows * cols).keys()].map((cell) => {
      const [cx, cy] = geometry.center(cell);
      return `M${cx - radius} ${cy}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
    });
    return svg("path", {class: "plastic", "fill-rule": "evenodd", d: outside + holes.join("")});
  }

  /** @param {Geometry} geometry */
  #coordinates(geometry) {
    const {rows, cols, look, rowOneIsTop} = geometry;
    const group = svg("g", {class: "coordinates"});
    for (let col = 0; col < cols; col++) {
      const row = rowOneIsTop ? 0 : rows - 1;
      const [x, y] = geometry.center(row * cols + col);
      const shift = look === "hexagons" ? -12 : 0;
      group.append(svg("text", {x: x + (rowOneIsTop ? shift : 0), y: rowOneIsTop ? y - 25 : y + (look === "columns" ? 40 : 33)}, geometry.columnName(col)));
    }
    for (let row = 0; row < rows; row++) {
      const [x, y] = geometry.center(row * cols);
      group.append(svg("text", {x: x - (look === "hexagons" ? 33 : 31), y: y + 4}, geometry.rowName(row)));
    }
    return group;
  }
}

customElements.define("tengen-board", Board);
