"""What `tengen analyse` says: as a table, as JSON, with results labelled exact or not."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tengen.games.position import Position
from tengen.games.randomness import new_random
from tengen.search.gumbel import Gumbel
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tengen.search.snapshot import MAX_LINE, of_search, of_uct
from tengen.search.tree import bytes_per_node
from tengen.search.uct import Uct, UctSearch
from tests.cli.test_commands import result, tengen

from .noisy import NoisyEvaluator


def analysed(*arguments: str) -> dict[str, object]:
    return json.loads(result("analyse", *arguments, "--json"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("search", ["puct", "gumbel", "uct"])
def test_every_search_finds_the_win_and_proves_it(search: str) -> None:
    answer = analysed("connect4", "445566", "--search", search, "--sims", "500")
    assert answer["best"] in ("3", "7")
    best = answer["moves"][0]  # type: ignore[index]
    assert (best["move"], best["proven"], best["distance"], best["is_exact"]) == (
        answer["best"],
        "win",
        1,
        True,
    )
    assert best["line"] == [answer["best"]]


def test_the_answer_is_complete() -> None:
    answer = analysed("connect4", "44", "--sims", "300", "--evaluator", "uniform")
    assert answer["game"] == "connect4" and answer["played"] == ["4", "4"] and answer["to_move"] == 1
    moves = answer["moves"]
    assert sum(move["visits"] for move in moves) == answer["simulations"] == 300  # type: ignore[attr-defined]
    assert {move["move"] for move in moves} == set("1234567")  # type: ignore[attr-defined]
    assert all(0 < move["prior"] <= 1 and -1 <= move["value"] <= 1 for move in moves)  # type: ignore[attr-defined]
    assert all(move["line"][0] == move["move"] for move in moves)  # type: ignore[attr-defined]


def test_the_table_is_for_people() -> None:
    shown = result("analyse", "tictactoe", "a1 a2 b1", "--sims", "400", "--top", "3", "--tree", "1")
    assert "O to move, last move b1" in shown
    assert "move     visits   prior   value  proven       line" in shown
    assert "… and 3 more" in shown and "\nroot " in shown


def test_a_bound_is_shown_as_a_bound() -> None:
    """A loss that was proven by one line is labelled: the loser might hold out, or fall, sooner."""
    shown = result("analyse", "tictactoe", "a1 a2 b1 c1 b2", "--sims", "2000")
    assert " in " in shown and "loss in" in shown


MISTAKES = [
    (["connect4", "1212121"], "nothing to analyse: the game is over, first player wins"),
    (["connect4", "--search", "gumbel", "--seconds", "1"],
     "gumbel plans all its simulations ahead: give it --sims, or use --search puct"),
    (["connect4", "--search", "uct", "--tree", "2"],
     "--evaluator and --tree are for --search puct and gumbel: uct has its own rollouts"),
    (["connect4", "--player", "uct", "--search", "puct"],
     "--search and --evaluator are for a bare search: leave them out with --player"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_a_mistake_is_one_clear_line(arguments: list[str], message: str) -> None:
    done = tengen("analyse", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tengen: {message}\n")


def test_a_live_search_reports_until_it_is_stopped() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "analyse", "gomoku9", "e5", "--live", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored if we run in the background
    )  # fmt: skip
    assert process.stdout
    first, second = json.loads(process.stdout.readline()), json.loads(process.stdout.readline())
    assert second["simulations"] > first["simulations"] > 0
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "stopped" in errors and "Traceback" not in errors
    assert json.loads(rest.splitlines()[-1])["simulations"] >= second["simulations"]


def test_a_snapshot_of_a_search_says_how_much_was_done() -> None:
    """Before the first simulation, on the way, and after a move was played."""
    position = Position.from_moves("connect4", "44")
    search = Search(position.game, NoisyEvaluator(), Puct(), 1, 1000)
    search.begin(position.state[None])
    first = of_search(position, search)
    assert (first.simulations, first.nodes, first.depth) == (0, 1, 0) and first.best
    assert {(move.visits, move.value) for move in first.moves} == {(0, None)} and len(first.moves) == 7
    assert sum(move.prior or 0 for move in first.moves) == pytest.approx(1, abs=1e-4)
    search.run(400)
    found = of_search(position, search)
    assert found.simulations == sum(move.visits for move in found.moves) == 400
    assert found.nodes <= 401 and 3 < found.depth < 40
    assert found.memory - first.memory == (found.nodes - 1) * bytes_per_node(position.game)
    assert max(len(move.line) for move in found.moves) <= min(MAX_LINE, found.depth)
    assert found.moves[0].move == found.best
    position = position.play(str(found.best))
    search.advance(search.result().actions)
    search.run(10)
    later = of_search(position, search)
    assert later.simulations == 10 and 10 < later.nodes < found.nodes


def test_a_snapshot_of_uct_says_how_much_was_done() -> None:
    position = Position.from_moves("connect4", "44")
    search = UctSearch(position.game, Uct(), 1000)
    search.begin(position.state, new_random(1))
    first = of_uct(position, search)
    assert (first.simulations, first.nodes, first.depth, first.moves) == (0, 1, 0, ()) and first.best
    search.run(400)
    found = of_uct(position, search)
    assert found.simulations == sum(move.visits for move in found.moves) == 400
    assert found.nodes == 401 and 2 < found.depth < 40 and found.memory == 401 * first.memory
    assert all(move.line[0] == move.move and len(move.line) > 1 for move in found.moves)
    assert found.moves[0].move == found.best
    search.advance(search.result().action, new_random(1))
    search.run(10)
    later = of_uct(position.play(str(found.best)), search)
    assert later.simulations == 10 and 10 < later.nodes < found.nodes


@pytest.mark.parametrize("num_trees", [1, 3])
def test_a_line_is_playable_and_a_tree_of_a_batch_is_read_like_any_other(num_trees: int) -> None:
    position = Position.from_moves("connect4", "4453")
    search = Search(position.game, NoisyEvaluator(), Gumbel(noise=0.0), num_trees, 200)
    search.begin(np.tile(position.state, (num_trees, 1)))
    search.run(200)
    shots = [of_search(position, search, tree) for tree in range(num_trees)]
    assert all(shot == shots[0] for shot in shots)
    for info in shots[0].moves:
        after = position
        for move in info.line:
            after = after.play(move)
        assert info.line[0] == info.move
