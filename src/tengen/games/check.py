"""The contract that every game must keep, as checks that anyone can run: `tengen check NAME`.

Each check is a function over sampled positions that returns None, or what went wrong and where. Before the
checks, rehearsal.py plays the game uncompiled: compiled code does not notice an index outside its array.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from tengen.games import drawing, symmetry
from tengen.games.batch import lift
from tengen.games.game import (
    FIRST_TO_MOVE,
    LAST_ACTION,
    LAST_MOVE,
    MINE,
    THEIRS,
    TO_MOVE,
    Game,
    Planes,
    State,
)
from tengen.games.numba_errors import compile_problem
from tengen.games.random_games import (
    Sample,
    after,
    both_players_move,
    ends_when_shuffled,
    sample_positions,
    sign_of_outcome,
)
from tengen.games.randomness import new_random

GARBAGE = -77  # what output buffers hold before a function writes them


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    positions: int
    problem: str | None  # None: the contract is kept
    note: str | None = None  # something that may be wrong or intended

    @property
    def ok(self) -> bool:
        return self.problem is None


def check_game(game: Game, num_positions: int = 2000, seed: int = 0) -> Iterator[Finding]:
    """The finding of each check, in order. The first failure usually explains the others."""
    problem = functions_are_compiled(game)
    yield Finding("functions are compiled", 1, problem)
    if problem:
        return
    problem = functions_compile(game)
    yield Finding("Numba compiles them", len(_kernels(game)), problem)
    if problem:
        return
    problem = symmetries_are_permutations(game)
    yield Finding("symmetries are permutations", len(game.symmetries), problem)
    if problem:
        return
    samples, problem = sample_positions(game, num_positions, seed)
    yield Finding("random games end by the rules", len(samples), problem, sign_of_outcome(game, samples))
    if not samples:
        return
    yield Finding("every game ends", 1, ends_when_shuffled(game, seed))
    yield Finding("both players move", len(samples), both_players_move(samples))
    few = samples[:: max(1, len(samples) // 300)]  # interpreted code is a thousand times slower
    checks: list[tuple[str, Callable[[Game, Sample], str | None], list[Sample]]] = [
        ("functions leave their input alone", inputs_untouched, samples),
        ("outputs are written in full", outputs_written, samples),
        ("legal moves are there until the end", legality, samples),
        ("values are for the player to move", values_in_range, samples),
        ("planes show the board", planes_show_board, samples),
        ("the last action is only for show", last_action_for_show, samples),
        ("symmetric play is play of the symmetric", symmetric_play, samples),
        ("wins are wins", wins_agree, samples),
        ("one integer and back", integer_round_trip, samples),
        ("compiled equals interpreted", compiled_equals_interpreted, few),
    ]
    for name, function, positions in checks:
        yield Finding(name, len(positions), _first_problem(game, function, positions))
    yield Finding("move names read back", game.num_actions, move_names(game))
    yield Finding("games read back from their moves", len(few), _first_problem(game, moves_read_back, few))
    yield Finding("positions are drawn", len(few), _first_problem(game, drawn, few))
    yield Finding("rollouts agree with play", 4000, rollouts_agree(game, seed))


def functions_are_compiled(game: Game) -> str | None:
    for name, function in _kernels(game).items():
        if not hasattr(function, "py_func"):
            return f"{name} is not compiled: decorate it with @njit(cache=True)"
    return None


def functions_compile(game: Game) -> str | None:
    state, random = np.zeros(game.state_size, np.int16), new_random(0)
    mask, planes = _buffers(game)
    arguments: dict[str, tuple[object, ...]] = {
        "start": (state,),
        "legal": (state, mask),
        "play": (state, 0, state),
        "outcome": (state,),
        "planes": (state, planes),
        "rollout": (state, random),
        "wins": (state, 0),
        "settle": (state,),
    }
    problems = (compile_problem(name, one, arguments[name]) for name, one in _kernels(game).items())
    return next((problem for problem in problems if problem), None)


def symmetries_are_permutations(game: Game) -> str | None:
    for what in ("cells", "actions"):
        for g, numbers in enumerate(getattr(game.symmetries, what)):
            if not np.array_equal(np.sort(numbers), np.arange(len(numbers))):
                return f"symmetry {g} does not send the {what} to all {what}, each once"
            if g == 0 and not np.array_equal(numbers, np.arange(len(numbers))):
                return f"symmetry 0 must leave the {what} in place"
    return None


def _kernels(game: Game) -> dict[str, Any]:
    """The compiled functions of the game, by name."""
    names = ("start", "legal", "play", "outcome", "planes", "rollout", "wins", "settle")
    return {name: getattr(game, name) for name in names if getattr(game, name) is not None}


def inputs_untouched(game: Game, sample: Sample) -> str | None:
    state = sample.state.copy()
    mask, planes = _buffers(game)
    game.legal(state, mask)
    game.outcome(state)
    game.planes(state, planes)
    if not game.outcome(state)[0]:
        game.after(state, int(np.flatnonzero(mask)[0]))
    return None if np.array_equal(state, sample.state) else "legal, outcome, planes or play changed the state"


def outputs_written(game: Game, sample: Sample) -> str | None:
    """The answer does not depend on what the output buffers held before."""
    state = sample.state
    ones, zeros = np.ones(game.num_actions, np.bool_), np.zeros(game.num_actions, np.bool_)
    game.legal(state, ones)
    game.legal(state, zeros)
    if not np.array_equal(ones, zeros):
        return "legal leaves entries of the mask unwritten"
    first, second = np.full(game.planes_shape, GARBAGE, np.float32), np.zeros(game.planes_shape, np.float32)
    game.planes(state, first)
    game.planes(state, second)
    for i, name in enumerate(game.plane_names):
        if not np.array_equal(first[i], second[i]):
            return f"planes leaves entries of plane {i}, '{name}', unwritten"
    if not game.outcome(state)[0]:
        action = int(np.flatnonzero(ones)[-1])
        dirty, clean = np.full_like(state, GARBAGE), np.zeros_like(state)
        game.play(state, action, dirty)
        game.play(state, action, clean)
        if not np.array_equal(dirty, clean):
            return "play leaves entries of the next state unwritten"
        if tuple(clean[: len(game.header)]) != game.header:
            return "play changes the header"
        if clean[LAST_ACTION] != action:
            name = game.moves.name(action)
            return f"after {name} state[-2] should be its action, {action}, is {clean[LAST_ACTION]}"
    return None


def legality(game: Game, sample: Sample) -> str | None:
    is_over, _ = game.outcome(sample.state)
    any_legal = bool(game.legal_mask(sample.state).any())
    if is_over and any_legal:
        return "legal moves after the end"
    if not is_over and not any_legal:
        return "no legal move, but not over"
    return None


def values_in_range(game: Game, sample: Sample) -> str | None:
    is_over, value = game.outcome(sample.state)
    if sample.state[TO_MOVE] not in (1, 2):
        return f"state[-1] is the player to move, 1 or 2, is {sample.state[TO_MOVE]}"
    if value not in ((-1.0, 0.0, 1.0) if is_over else (0.0,)):
        return f"outcome's value is -1, 0 or 1 at the end and 0 before, is {value}"
    return None


def planes_show_board(game: Game, sample: Sample) -> str | None:
    """The plane `mine` shows the stones of the player to move, the plane `theirs` those of the opponent."""
    planes = _planes(game, sample.state)
    if not np.isfinite(planes).all():
        return "planes holds numbers that are not finite"
    cells = sample.state[game.cells].reshape(game.rows, game.cols)
    me = sample.state[TO_MOVE]
    for name, owner, whose in ((MINE, me, "the player to move"), (THEIRS, 3 - me, "the opponent")):
        for plane in game.planes_named(name) if name in game.plane_names else ():
            if not np.array_equal(planes[plane] != 0, cells == owner):
                return f"plane {plane} should show the stones of {whose}, as its name '{name}' says"
    for plane in game.planes_named(FIRST_TO_MOVE) if FIRST_TO_MOVE in game.plane_names else ():
        if not (planes[plane] == float(me == 1)).all():
            ones = "ones" if me == 1 else "zeros"
            return f"plane {plane}, '{FIRST_TO_MOVE}', should be {ones} everywhere with player {me} to move"
    return None


def last_action_for_show(game: Game, sample: Sample) -> str | None:
    """Caches and the learner treat positions that differ only in the last action as the same position."""
    if not sample.actions:
        return None
    bare = sample.state.copy()
    bare[LAST_ACTION] = -1
    advice = "keep what the rules need in an entry of its own"
    mask = game.legal_mask(sample.state)
    if not np.array_equal(mask, game.legal_mask(bare)):
        return f"legal depends on state[-2], the last action: {advice}"
    if game.outcome(sample.state) != game.outcome(bare):
        return f"outcome depends on state[-2], the last action: {advice}"
    differ = (_planes(game, sample.state) != _planes(game, bare)).any(axis=(1, 2))
    for name in (name for name, differs in zip(game.plane_names, differ, strict=True) if differs):
        if name != LAST_MOVE:
            return f"plane '{name}' depends on state[-2], the last action: name it LAST_MOVE, or {advice}"
    if mask.any():
        action = int(np.flatnonzero(mask)[0])
        if not np.array_equal(game.after(sample.state, action), game.after(bare, action)):
            return f"play depends on state[-2], the last action: {advice}"
    return None


def symmetric_play(game: Game, sample: Sample) -> str | None:
    state, symmetries = sample.state, game.symmetries
    mask, planes = game.legal_mask(state), _planes(game, state)
    choices = np.flatnonzero(mask)
    for g in range(len(symmetries)):
        cells, actions = symmetries.cells[g], symmetries.actions[g]
        twin = symmetry.transform(game, state, g)
        if game.outcome(twin) != game.outcome(state):
            return f"symmetry {g} changes the outcome"
        if not np.array_equal(game.legal_mask(twin)[actions], mask):
            wrong = int(np.flatnonzero(game.legal_mask(twin)[actions] != mask)[0])
            names = f"{game.moves.name(wrong)} becomes {game.moves.name(int(actions[wrong]))}"
            which = f"{names}, of which one is legal and one is not"
            return f"symmetry {g} changes the legal moves: {which}"
        moved = _planes(game, twin).reshape(game.num_planes, -1)[:, cells]
        if not np.array_equal(moved, planes.reshape(game.num_planes, -1)):
            return f"symmetry {g} does not move the planes as it moves the cells"
        if len(choices):
            action = int(choices[len(sample.actions) % len(choices)])
            image, expected = int(actions[action]), symmetry.transform(game, game.after(state, action), g)
            if not np.array_equal(game.after(twin, image), expected):
                move, its_image = game.moves.name(action), game.moves.name(image)
                return f"symmetry {g}: {move} and its image {its_image} lead to different positions"
    return None


def integer_round_trip(game: Game, sample: Sample) -> str | None:
    number = game.to_integer(sample.state)
    if not np.array_equal(game.from_integer(number), sample.state):
        return f"{number} comes back different"
    return None


def compiled_equals_interpreted(game: Game, sample: Sample) -> str | None:
    state = sample.state.copy()
    mask, planes = _buffers(game)
    with np.errstate(over="ignore"):  # bit tricks wrap around, compiled or not
        interpreted(game.legal)(state, mask)
        interpreted(game.planes)(state, planes)
        is_over, value = interpreted(game.outcome)(state)
        if not np.array_equal(mask, game.legal_mask(state)):
            return "legal"
        if not np.array_equal(planes, _planes(game, state)):
            return "planes"
        if (bool(is_over), float(value)) != game.outcome(state):
            return "outcome"
        if not is_over:
            choices = np.flatnonzero(mask)
            action = int(choices[len(sample.actions) % len(choices)])
            next_state = np.empty_like(state)
            interpreted(game.play)(state, action, next_state)
            if not np.array_equal(next_state, game.after(state, action)):
                return f"play of action {action}"
    return None


@lru_cache(maxsize=256)
def interpreted(kernel: Any) -> Callable[..., Any]:
    """The kernel as a plain Python function; every kernel it calls is interpreted too."""
    function = kernel.py_func
    names = dict(function.__globals__)
    for word in function.__code__.co_names:
        if hasattr(names.get(word), "py_func"):
            names[word] = interpreted(names[word])
    return FunctionType(function.__code__, names, function.__name__)


def move_names(game: Game) -> str | None:
    names = [game.moves.name(action) for action in range(game.num_actions)]
    if len(set(names)) != len(names):
        return "two actions have the same name"
    for action, name in enumerate(names):
        if game.moves.action(name) != action:
            return f"'{name}' names action {action} but reads back as {game.moves.action(name)}"
        if game.moves.split(f"{name} {names[0]}") != [name, names[0]]:
            return f"'{name} {names[0]}' does not split into two moves"
    return None


def moves_read_back(game: Game, sample: Sample) -> str | None:
    """A game written as the names of its moves leads to the same position when it is read."""
    names = [game.moves.name(action) for action in sample.actions]
    read = game.moves.split(" ".join(names))
    if [game.moves.action(name) for name in read] != list(sample.actions):
        return f"'{' '.join(names)}' is read as {len(read)} moves: '{' '.join(read)}'"
    return None


def drawn(game: Game, sample: Sample) -> str | None:
    """The position can be drawn as text and as a picture."""
    lines = drawing.text(game, sample.state).splitlines()
    if len(lines) < game.rows + 2 or not drawing.svg(game, sample.state).startswith("<svg"):
        return "the drawing has too few lines"
    return None


def wins_agree(game: Game, sample: Sample) -> str | None:
    """The game's own `wins` says the same as playing the action."""
    states, legal = sample.state[np.newaxis], game.legal_mask(sample.state)[np.newaxis]
    own, by_play = np.empty_like(legal), np.empty_like(legal)
    lift(game).wins(states, legal, own)
    lift(replace(game, wins=None)).wins(states, legal, by_play)
    wrong = np.flatnonzero(own[0] != by_play[0])
    return f"wins is wrong about {game.moves.name(int(wrong[0]))}" if len(wrong) else None


def rollouts_agree(game: Game, seed: int) -> str | None:
    """The game's own rollout reaches the end, with the same mean result as random play by the rules."""
    if game.rollout is None:
        return None
    state, count = game.new_state(), 4000
    random = new_random(seed)
    for _ in range(20):
        end = state.copy()
        game.rollout(end, random)
        if not game.outcome(end)[0] or tuple(end[: len(game.header)]) != game.header:
            return "rollout does not leave a finished game of the same header"
    own = lift(game).playouts(state, count, random) / count
    plain = replace(game, rollout=None)
    by_rules = lift(plain).playouts(state, count, random) / count
    # Results lie in [-1, 1]: the difference of two means has a standard deviation of at most √(2 / count).
    if abs(own - by_rules) > 5 * (2 / count) ** 0.5:
        return f"mean result {own:+.3f} by rollout, {by_rules:+.3f} by random play"
    return None


def _first_problem(
    game: Game, function: Callable[[Game, Sample], str | None], samples: list[Sample]
) -> str | None:
    for sample in samples:
        try:
            problem = function(game, sample)
        except Exception as error:  # noqa: BLE001 (a broken game may break anything: that is a finding too)
            problem = f"{type(error).__name__}: {error}"
        if problem:
            return problem + after(game, sample.actions)
    return None


def _buffers(game: Game) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], Planes]:
    return np.empty(game.num_actions, np.bool_), np.empty(game.planes_shape, np.float32)


def _planes(game: Game, state: State) -> Planes:
    planes = np.empty(game.planes_shape, np.float32)
    game.planes(state, planes)
    return planes
