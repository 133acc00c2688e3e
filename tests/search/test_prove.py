"""Proven results and distances equal an exhaustive minimax, in all of tic-tac-toe and elsewhere."""

import math
from functools import cache

import numpy as np
import pytest

from tengen import games
from tengen.evaluators.rollout import RolloutEvaluator
from tengen.games.game import Game, State
from tengen.games.position import Position
from tengen.search.mcts import Search
from tengen.search.prove import lower_bounds, prove
from tengen.search.puct import Puct
from tengen.search.tree import DRAW, LOSS, UNKNOWN, WIN

TICTACTOE = games.find("tictactoe")


def minimax(game: Game, state: State, known: dict[bytes, tuple[State, int, int]]) -> tuple[int, int]:
    """(result, plies to the end) for the player to move: the fastest win, the slowest loss."""
    key = np.delete(state, -2).tobytes()  # whatever the last move was
    if key not in known:
        is_over, value = game.outcome(state)
        best = ({1.0: WIN, 0.0: DRAW, -1.0: LOSS}[value], 0)
        if not is_over:
            options = []
            for action in np.flatnonzero(game.legal_mask(state)):
                child = game.after(state, int(action))
                result, distance = minimax(game, child, known)
                if child[-1] != state[-1]:
                    result = {WIN: LOSS, LOSS: WIN, DRAW: DRAW}[result]
                options.append((result, distance + 1))
            best = max(options, key=rank)
        known[key] = (state, *best)
    return known[key][1], known[key][2]


def rank(option: tuple[int, int]) -> float:
    result, distance = option
    return {WIN: 1000 - distance, DRAW: 0, LOSS: -1000 + distance}[result]


@cache
def all_positions(name: str) -> list[tuple[State, int, int]]:
    """Every reachable position of a small game with its result and distance."""
    known: dict[bytes, tuple[State, int, int]] = {}
    minimax(games.find(name), games.find(name).new_state(), known)
    return list(known.values())


def test_all_of_tictactoe_is_proven_exactly() -> None:
    positions = all_positions("tictactoe")
    assert len(positions) == 5478
    by_empty_cells: dict[int, list[tuple[State, int, int]]] = {}
    for position in positions:
        by_empty_cells.setdefault(int((position[0][TICTACTOE.cells] == 0).sum()), []).append(position)
    proven = 0
    for empty, group in by_empty_cells.items():
        whole_tree = 1 + sum(math.perm(empty, plies) for plies in range(empty + 1))
        proofs = prove(TICTACTOE, np.stack([state for state, _, _ in group]), min(whole_tree, 100_000))
        for (_, result, distance), proof in zip(group, proofs, strict=True):
            assert (proof.result, proof.is_exact) == (result, True)
            if result != DRAW:
                assert proof.distance == distance == len(proof.line)
            proven += 1
    assert proven == 5478


@pytest.mark.parametrize("name", ["connect:rows=3,cols=4,k=3", "othello:size=4", "hex:size=3"])
def test_other_small_games_are_proven_exactly(name: str) -> None:
    game, random = games.find(name), np.random.default_rng(4)
    known: dict[bytes, tuple[State, int, int]] = {}
    states: list[State] = []
    while len(states) < 60:
        state = game.new_state()
        for _ in range(random.integers(3, 7)):
            if not game.outcome(state)[0]:
                state = game.after(state, int(random.choice(np.flatnonzero(game.legal_mask(state)))))
        states.append(state)
    for state, proof in zip(states, prove(game, np.stack(states), 30_000), strict=True):
        result, distance = minimax(game, state, known)
        assert (proof.result, proof.is_exact) == (result, True)
        if result != DRAW:
            assert proof.distance == distance


def test_a_proof_that_does_not_fit_stays_open() -> None:
    game = games.find("connect4")
    (proof,) = prove(game, game.new_state()[None], 500)
    assert proof.result == UNKNOWN and proof.line == [] and proof.nodes == 500


def test_any_search_proves_right_results_and_bounds() -> None:
    """What an ordinary search proves on the way is true; its distances are bounds, and exact where it says so."""
    positions = [row for row in all_positions("tictactoe") if row[1:] != (DRAW, 0)]
    states = np.stack([state for state, _, _ in positions])
    search = Search(TICTACTOE, RolloutEvaluator(TICTACTOE), Puct(), len(states), 300)
    search.begin(states)
    search.run(300)
    roots = search.trees.roots
    found, distances = search.trees.nodes.proven[roots], search.trees.nodes.distance[roots]
    soonest = [lower_bounds(search.trees, tree)[0] for tree in range(len(states))]
    exact = 0
    for i, (_, result, distance) in enumerate(positions):
        if found[i] == UNKNOWN:
            continue
        assert found[i] == result
        if result == WIN:
            assert soonest[i] <= distance <= distances[i]
        if result != DRAW and soonest[i] == distances[i]:
            assert distances[i] == distance
            exact += 1
    assert (found != UNKNOWN).mean() > 0.8 and exact > 1000


def test_the_slowest_loss_is_played() -> None:
    """In lost positions of tic-tac-toe, of the lines found the one that holds out longest is chosen."""
    positions = [row for row in all_positions("tictactoe") if row[1] == LOSS and row[2] > 0]
    search = Search(TICTACTOE, RolloutEvaluator(TICTACTOE), Puct(), len(positions), 1500)
    search.begin(np.stack([state for state, _, _ in positions]))
    search.run(1500)
    result = search.result()
    assert (result.root_proven == LOSS).all()
    chosen = result.distance[np.arange(len(positions)), result.actions]
    longest = np.where(result.legal, result.distance, 0).max(axis=1)
    assert (chosen == longest).all()
    assert (chosen > np.where(result.legal, result.distance, 99).min(axis=1)).sum() > 20


def test_a_double_threat_in_gomoku_is_proven() -> None:
    """An open four wins, whatever white does."""
    position = Position.from_moves("gomoku6", "b3 a6 c3 b6 d3 f6")  # four in a row wins: b3 c3 d3 is open
    (proof,) = prove(position.game, position.state[None], 2000)
    assert proof.result == WIN and proof.distance == 1
    position = Position.from_moves("gomoku6", "b3 a6 c3 b6").play("d3")
    (proof,) = prove(position.game, position.state[None], 20_000)
    assert proof.result == LOSS and proof.distance == 2 and proof.is_exact
