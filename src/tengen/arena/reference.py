"""Scored positions of Connect 4, to measure how often a player finds the best move, and how often a good one.

A set is JSON lines, one position each, in the format of Peter Cnudde's refmoves1k_kaggle:

    {"board": [42 cells from the top left, 0 empty, 1 first, 2 second], "score": 2,
     "move score": [-2, 2, 2, 1, 2, 2, -2]}          a score for each column, -99 where it is full

Scores are the solver's: +n wins, higher if faster; 0 draws; -n loses, higher (closer to 0) if later.

    perfect               the move has the highest score: the fastest win, the slowest loss
    good                  it keeps the result: a win stays a win, a draw at least a draw
    good, discriminating  the same, only on positions where not every move is good
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tengen import files, games
from tengen.arena.contestants import Contestants, NetworkPlayer, to_send
from tengen.arena.interval import Rate, rate
from tengen.errors import UserError
from tengen.evaluators.network import SentNetwork
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.games.symmetry import transform
from tengen.players.player import Choice, Player, PlayerFailedError
from tengen.tactics.connect4_solver import Solver
from tengen.workers.tasks import RunTasks

GAME = "connect4"
NUM_CELLS, NUM_COLUMNS, FULL = 42, 7, -99
OPENING_PLIES = 8  # at most this many random moves before a player takes over
MOST_TRIES = 1000  # to find a new position
BATCH = 50  # positions per question to a player
OWN_SET = Path(__file__).parent.parent / "reference" / "connect4.jsonl"  # made by `tengen reference make`


@dataclass(frozen=True)
class Scored:
    """A position and the exact score of every column."""

    position: Position
    scores: tuple[int, ...]  # [7], FULL where the column is

    @property
    def best(self) -> int:
        return max(self.scores)

    @property
    def ply(self) -> int:
        return sum(1 for cell in self.position.state[self.position.game.cells] if cell)

    def is_perfect(self, action: int) -> bool:
        return self.scores[action] == self.best

    def is_good(self, action: int) -> bool:
        return _sign(self.scores[action]) == _sign(self.best)

    @property
    def is_discriminating(self) -> bool:
        """True if some legal move is not good."""
        return not all(self.is_good(a) for a, score in enumerate(self.scores) if score != FULL)


@dataclass(frozen=True)
class Answer:
    """The move that a player chose in a scored position."""

    scored: Scored
    choice: Choice


@dataclass(frozen=True)
class Score:
    """The result of a player on a set."""

    perfect: Rate
    good: Rate
    good_discriminating: Rate
    by_ply: dict[int, tuple[Rate, Rate]]  # perfect, good
    mistakes: list[Answer]  # not good


def read(path: Path | str) -> list[Scored]:
    """The positions in a file; UserError names the line that is wrong."""
    file = Path(path)
    found = []
    for number, line in enumerate(files.read_bytes(file).decode("utf-8", "replace").splitlines(), start=1):
        if line.strip():
            try:
                found.append(_scored(files.parse_json(line)))
            except ValueError as error:
                raise UserError(f"{file.name} line {number}: {_reason(error)}") from None
    if not found:
        raise UserError(f"{file.name} has no positions: expected JSON lines with board and move score")
    return found


def to_line(scored: Scored) -> str:
    """A position as a line of a file."""
    board = [int(cell) for cell in scored.position.state[scored.position.game.cells]]
    return json.dumps({"board": board, "score": scored.best, "move score": list(scored.scores)}) + "\n"


def make(count: int, plies: range, seed: int, player: Player | None = None) -> Iterator[Scored]:
    """New positions, scored by the solver: after random moves, or from games that a player plays against
    itself from random openings. None is over, and none occurs twice, not even mirrored."""
    game, random, solver = games.find(GAME), np.random.default_rng(seed), Solver()
    seen: set[Position] = set()
    for made in range(count):
        for _ in range(MOST_TRIES):
            position = _wander(game, int(random.choice(plies)), random, player)
            if position is not None and position not in seen:
                break
        else:
            raise UserError(f"found only {made} different positions with these plies, expected {count}")
        seen |= {position, Position(game, transform(game, position.state.copy(), 1))}
        scores = solver.column_scores(position)
        yield Scored(position, tuple(FULL if score is None else score for score in scores))


def _wander(game: Game, ply: int, random: np.random.Generator, player: Player | None) -> Position | None:
    """A position after `ply` moves, without the history; None if the game ended earlier."""
    position = Position.start(game)
    opening = ply if player is None else min(ply, int(random.integers(OPENING_PLIES + 1)))
    for made in range(ply):
        if position.is_over:
            return None
        if player is None or made < opening:
            position = position.play(int(random.choice(position.legal_actions)))
        else:
            try:
                position = position.play(player.choose(position).action)
            except PlayerFailedError as error:
                raise UserError(f"the player gave up after {' '.join(position.moves)}: {error}") from error
    board = [int(cell) for cell in position.state[game.cells]]
    return None if position.is_over else Position.from_cells(game, board, position.to_move)


def disagreements(positions: Sequence[Scored]) -> Iterator[list[tuple[int, int]]]:
    """For each position, the columns whose score differs from our solver's: (column, our score)."""
    solver = Solver()
    for scored in positions:
        ours = (FULL if score is None else score for score in solver.column_scores(scored.position))
        pairs = enumerate(zip(ours, scored.scores, strict=True))
        yield [(column, our) for column, (our, their) in pairs if our != their]


@dataclass(frozen=True)
class Question:
    """Positions for a player, which chooses a move in each."""

    player: str  # a spec, or the name of a network of the work
    states: State  # [B, S]
    seed: int = 0


@dataclass(frozen=True)
class AskPlayers:
    """Work: players choose moves in scored positions."""

    networks: tuple[NetworkPlayer, ...] = ()
    sent: tuple[SentNetwork, ...] = ()  # that specs name by their paths

    @contextmanager
    def open(self) -> Iterator[Callable[[Question], list[Choice]]]:
        game = games.find(GAME)
        with Contestants(GAME, self.networks, self.sent) as contestants:

            def answer(question: Question) -> list[Choice]:
                player = contestants.get(question.player)
                player.new_game(question.seed)  # the answer depends only on the question
                try:
                    return player.choose_many([Position(game, state) for state in question.states])
                except PlayerFailedError as error:
                    raise UserError(f"{question.player} gave up: {error}") from error

            yield answer


def ask(
    player: str | NetworkPlayer, positions: Sequence[Scored], run_tasks: RunTasks, seed: int = 0
) -> Iterator[Answer]:
    """A player's choice in each position, in order, batch by batch."""
    name, networks = (player, ()) if isinstance(player, str) else (player.name, (player,))
    batches = [positions[first : first + BATCH] for first in range(0, len(positions), BATCH)]
    questions = [Question(name, np.stack([one.position.state for one in batch]), seed) for batch in batches]
    done: dict[int, list[Choice]] = {}
    following = 0
    work = AskPlayers(networks, to_send([name], games.find(GAME)))
    for number, choices in run_tasks(work, questions):
        done[number] = choices
        while following in done:
            yield from map(Answer, batches[following], done.pop(following))
            following += 1


def score(answers: Iterable[Answer]) -> Score:
    """The rates of perfect and good moves, with their 95 % intervals."""
    every = list(answers)
    plies = sorted({answer.scored.ply for answer in every})
    return Score(
        perfect=_rate(every, perfect=True),
        good=_rate(every),
        good_discriminating=_rate([answer for answer in every if answer.scored.is_discriminating]),
        by_ply={
            ply: (
                _rate([answer for answer in every if answer.scored.ply == ply], perfect=True),
                _rate([answer for answer in every if answer.scored.ply == ply]),
            )
            for ply in plies
        },
        mistakes=[answer for answer in every if not answer.scored.is_good(answer.choice.action)],
    )


def _rate(answers: list[Answer], perfect: bool = False) -> Rate:
    is_right = Scored.is_perfect if perfect else Scored.is_good
    return rate(sum(is_right(a.scored, a.choice.action) for a in answers), len(answers))


def _scored(row: Any) -> Scored:
    """The position of a line, checked."""
    if not isinstance(row, dict) or "board" not in row or "move score" not in row:
        raise UserError("expected an object with board and move score")
    board, scores = row["board"], row["move score"]
    if not _whole_numbers(board, NUM_CELLS) or not set(board) <= {0, 1, 2}:
        raise UserError(f"board is {NUM_CELLS} cells, each 0, 1 or 2")
    if not _whole_numbers(scores, NUM_COLUMNS):
        raise UserError(f"move score is {NUM_COLUMNS} whole numbers")
    position = Position.from_cells(GAME, board, to_move=1 + (NUM_CELLS - board.count(0)) % 2)
    if position.is_over:
        raise UserError(f"the game is over, {position.outcome}")
    for column, (is_legal, value) in enumerate(zip(position.legal_mask, scores, strict=True), start=1):
        if is_legal == (value == FULL):
            raise UserError(f"column {column} is {'not ' if is_legal else ''}full, but its score is {value}")
    return Scored(position, tuple(scores))


def _whole_numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    )


def _reason(error: ValueError) -> str:
    return f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
