"""Players keep limits of time, nodes and simulations, and can be stopped and read at any moment."""

import threading
import time
from itertools import pairwise

import pytest

from tengen import games, players
from tengen.games.position import Position
from tengen.players.limit import Clock, Limit

SEARCHERS = [
    ("zero", "gomoku9"),
    ("zero:zoo/gomoku9:vcf=yes", "gomoku9"),
    ("uct", "gomoku9"),
    ("uct:vcf=yes", "renju15"),
    ("alphabeta", "gomoku15"),
    ("alphabeta:vcf=yes", "renju15"),
    ("minimax", "gomoku15"),
    ("perfect", "connect4"),
]
SLACK = 1.0  # seconds that a busy machine may add; `tengen bench latency` measures what a quiet one does


@pytest.mark.parametrize(("spec", "name"), SEARCHERS, ids=[spec for spec, _ in SEARCHERS])
def test_a_search_ends_in_time_or_when_stopped_and_shows_what_it_found(spec: str, name: str) -> None:
    position = Position.start(name)
    with players.find(spec, position.game) as player:
        for limit in (Limit(seconds=0.2), Limit(clock=Clock(5.0)), Limit(seconds=0.0)):
            player.prepare(limit)
            began = time.perf_counter()
            choice = player.choose(position, limit)
            assert position.legal_mask[choice.action]
            wanted = limit.thinking_seconds
            assert wanted is not None and time.perf_counter() - began < wanted + SLACK
        # without any limit, until stop(): a search that has found everything may end before
        analysis = player.analyse(position, Limit(), every=0.02)
        threading.Timer(0.3, analysis.stop).start()
        snapshots = list(analysis)
        assert analysis.is_over and analysis.seconds < 0.3 + SLACK
        last = snapshots[-1]
        assert last.is_final and last.best == last.moves[0].move and last.best in position.legal_moves
        assert position.game.moves.name(analysis.best.action) in position.legal_moves
        assert all(first.nodes <= later.nodes for first, later in pairwise(snapshots))
        for snapshot in snapshots:
            assert {move.move for move in snapshot.moves} <= set(position.legal_moves)
            assert all(move.value is None or -1 <= move.value <= 1 for move in snapshot.moves)


@pytest.mark.parametrize("spec", ["zero", "uct", "alphabeta", "minimax"])
def test_a_limit_of_nodes_is_kept(spec: str) -> None:
    position = Position.from_moves("gomoku9", "e5 e6")
    with players.find(spec, position.game) as player:
        for nodes in (50, 500):
            analysis = player.analyse(position, Limit(nodes=nodes))
            assert analysis.best is not None
            assert analysis.snapshot.nodes <= nodes + 100  # a slice ends at a whole move


@pytest.mark.parametrize("spec", ["zero:zoo/gomoku9", "zero:zoo/gomoku9:search=puct", "uct", "alphabeta"])
def test_the_same_position_and_limit_from_a_fresh_player_give_the_same_answer(spec: str) -> None:
    position, found = Position.from_moves("gomoku9", "e5 e6 d5"), []
    for _ in range(2):
        with players.find(spec, position.game) as player:
            player.new_game(3)
            found.append(player.choose(position, Limit(simulations=200, nodes=5000)))
    assert found[0] == found[1]


def test_simulations_of_a_kept_tree_are_counted_as_new_ones() -> None:
    game = games.find("connect4")
    with players.find("zero:zoo/connect4:search=puct,sims=300", game) as player:
        position = Position.start(game)
        first = player.analyse(position)
        choice = first.best
        position = position.play(choice.action)
        position = position.play(choice.line[1])
        later = player.analyse(position)
        kept = later.snapshot
        assert kept.simulations == 0 and kept.nodes > 1, "what was found about the moves played is kept"
        assert later.best is not None
        assert later.snapshot.simulations == 300
        assert later.snapshot.nodes >= kept.nodes + 200


def test_a_tree_is_not_kept_for_another_game_or_after_a_new_one() -> None:
    game = games.find("connect4")
    with players.find("zero:zoo/connect4:search=puct,sims=100", game) as player:
        start = Position.start(game)
        assert player.choose(start) is not None
        elsewhere = Position.from_moves(game, "1234567")
        assert player.analyse(elsewhere).snapshot.nodes == 1, "nobody has looked at these moves"
        assert player.choose(elsewhere) is not None
        assert player.analyse(start).snapshot.nodes == 1, "the start does not follow from it"
        assert player.choose(start) is not None
        player.new_game(0)
        assert player.analyse(start.play("4")).snapshot.nodes == 1
    with players.find("zero:zoo/connect4:search=puct,sims=100,reuse=no", game) as player:
        assert player.choose(start) is not None
        assert player.analyse(start.play("4")).snapshot.nodes == 1


def test_memory_bounds_the_tree_and_a_full_one_ends_the_search() -> None:
    game = games.find("gomoku15")
    for spec in ("zero:zoo/gomoku15:memory=2", "uct:memory=2"):
        with players.find(spec, game) as player:
            analysis = player.analyse(Position.start(game), Limit())
            assert analysis.best is not None
            assert 500 < analysis.snapshot.nodes < 3000 and analysis.snapshot.memory <= 2 << 20
