"""The submission for Kaggle's Connect X: its rules, network, search and clock, and the packed file by itself.

`make test-slow` plays it under Kaggle's own package, in an environment of its own (`make kaggle`).
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tengen import games, nets
from tengen.evaluators.card import read_card
from tengen.evaluators.network import open_network
from tengen.evaluators.zoo import ZOO, find_network
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.protocols import kaggle, kaggle_agent
from tengen.protocols.kaggle_agent import Board, Clock, Network, Node, Search
from tengen.tactics.connect4_solver import Solver
from tengen.training import checkpoint
from tests.cli.conftest import Here, here, no_game_files  # noqa: F401

REPOSITORY = Path(__file__).parents[2]
KAGGLE = Path(os.environ.get("TENGEN_KAGGLE_PYTHON", REPOSITORY / ".venv-kaggle" / "bin" / "python"))
BOARDS = ["connect4", "connect:rows=5,cols=9,k=4", "connect:rows=8,cols=4,k=4", "connect:rows=4,cols=5,k=3",
          "connect:rows=6,cols=6,k=5", "connect:rows=3,cols=3,k=1", "connect:rows=1,cols=6,k=2"]  # fmt: skip


def board_of(game: Game) -> Board:
    return Board(*game.header)


def bitboards(position: Position) -> tuple[int, int]:
    cells = [int(cell) for cell in position.state[position.game.cells]]
    return board_of(position.game).read(cells, position.to_move)


def random_positions(game: Game, count: int, longest: int = 40, seed: int = 0) -> list[Position]:
    """Positions that are not over."""
    random, found = np.random.default_rng(seed), list[Position]()
    while len(found) < count:
        position = Position.start(game)
        for _ in range(random.integers(longest)):
            following = position.play(int(random.choice(position.legal_actions)))
            if following.is_over:
                break
            position = following
        found.append(position)
    return found


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("kaggle") / "submission.py"
    file.write_text(kaggle.pack("zoo/connect4-small"))
    return file


@pytest.fixture(scope="module")
def weights() -> str:
    """The bundled network, packed."""
    folder = find_network("zoo/connect4-small")
    network = checkpoint.read(folder)
    return kaggle.packed(
        kaggle.settings_of(network.card, "zoo/connect4-small"), kaggle.folded(network.average(folder))
    )


# The rules


@pytest.mark.parametrize("name", BOARDS)
def test_bitboards_follow_the_rules(name: str) -> None:
    game = games.find(name)
    board = board_of(game)
    for position in random_positions(game, 100):
        mine, theirs = bitboards(position)
        playable = board.playable(mine | theirs)
        assert sorted(map(board.column, kaggle_agent.bits(playable))) == list(position.legal_actions)
        wins = [a for a in position.legal_actions if position.play(a).winner == position.to_move]
        assert sorted(map(board.column, kaggle_agent.bits(playable & board.completing(mine)))) == wins


@pytest.mark.parametrize("name", BOARDS)
def test_the_planes_are_those_of_the_game(name: str) -> None:
    game = games.find(name)
    for position in random_positions(game, 20):
        planes = np.zeros(game.planes_shape, np.float32)
        game.planes(position.state, planes)
        np.testing.assert_array_equal(board_of(game).planes(*bitboards(position)), planes[[0, 1, 3]])


# The network


@pytest.mark.parametrize("name", BOARDS[:3])
def test_the_network_gives_the_answers_of_onnx(name: str, weights: str) -> None:
    folder, game = find_network("zoo/connect4-small"), games.find(name)
    exact = kaggle.folded(checkpoint.read(folder).average(folder))
    settings, rounded = kaggle_agent.unpack(weights)
    onnx = open_network("zoo/connect4-small", "fp32").direct(game)
    for tensors, error in ((exact, 1e-4), (rounded, 0.04)):  # float32, and float16 as in the packed file
        network = Network(settings, tensors, board_of(game))
        for position in random_positions(game, 50):
            expected = onnx.evaluate(position.state[None], position.legal_mask[None])
            logits, value = network(*bitboards(position))
            np.testing.assert_allclose(logits, expected.logits[0], atol=error)
            assert value == pytest.approx(float(expected.values[0]), abs=error / 4)


def test_a_value_made_of_results_and_distances_is_the_one_of_pytorch() -> None:
    game = games.find("connect4")
    net = nets.make("anysize", game, {"channels": 8, "blocks": 3, "value": "wdl", "discount": 0.9}, seed=5)
    for module in net.modules():  # as after some training
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(module.running_mean)  # type: ignore[arg-type]
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)  # type: ignore[arg-type]
    net.eval()
    card = read_card(ZOO / "connect4")
    card = replace(card, network=card.network | {"value": "wdl"}, discount=0.9)
    network = Network(
        kaggle.settings_of(card, "made"),
        kaggle.folded({name: array.numpy() for name, array in net.state_dict().items()}),
        board_of(game),
    )
    for position in random_positions(game, 20):
        planes = np.zeros((1, *game.planes_shape), np.float32)
        game.planes(position.state, planes[0])
        with torch.inference_mode():
            expected = net(torch.from_numpy(planes[:, net.planes]))
        logits, value = network(*bitboards(position))
        np.testing.assert_allclose(logits, expected.logits[0], atol=1e-4)
        assert value == pytest.approx(float(expected.value[0]), abs=1e-5) and value != 0


# The search


def simulations(count: int) -> Callable[[Node], bool]:
    left = iter(range(count))
    return lambda root: next(left, None) is None


@pytest.mark.parametrize(
    ("moves", "columns", "result"),
    [
        ("172737", "4", 1),  # a row of four, although the opponent threatens one too
        ("17273", "4", None),  # the only defence
        ("27374", "15", -1),  # both ends are open: lost, but it must answer
    ],
)
def test_the_rules_decide_without_simulations(moves: str, columns: str, result: int | None) -> None:
    position = Position.from_moves("connect4", moves)
    search = kaggle_agent.new_search(board_of(position.game))
    assert str(search.choose(*bitboards(position), simulations(0)) + 1) in columns
    assert search.root(*bitboards(position)).result == result


def test_it_never_lets_the_opponent_win_in_one_if_it_can_help_it() -> None:
    search = kaggle_agent.new_search(Board(6, 7, 4))
    game = games.find("connect4")
    for one in random_positions(game, 300, seed=4):
        root = search.expand(*bitboards(one))
        if root.result is not None:
            continue
        for cell in root.moves:
            after = one.play(board_of(game).column(cell))
            assert after.is_over or not any(after.play(a).winner for a in after.legal_actions)


def test_what_it_has_proven_is_true(weights: str) -> None:
    game, solver = games.find("connect4"), Solver()
    search = kaggle_agent.new_search(board_of(game), weights)
    proven = 0
    for position in [one for one in random_positions(game, 150, 42, seed=1) if len(one.moves) >= 20][:40]:
        mine, theirs = bitboards(position)
        column = search.choose(mine, theirs, simulations(150))
        root = search.root(mine, theirs)
        if root.result is None:
            continue
        proven += 1
        scores = solver.column_scores(position)
        best = max(score for score in scores if score is not None)
        chosen = scores[column]
        assert chosen is not None and np.sign(best) == root.result == np.sign(chosen)
    assert proven >= 20


def test_positions_by_other_orders_of_moves_share_a_node_and_the_tree_is_kept(weights: str) -> None:
    search = kaggle_agent.new_search(Board(6, 7, 4), weights)
    search.choose(0, 0, simulations(300))
    root = search.nodes[0, 0]
    assert root.count == 301 and sum(root.visits) == 300
    child = root.children[root.visits.index(max(root.visits))]
    assert child is not None and child.count > 100
    position = Position.start("connect4").play(root.visits.index(max(root.visits)))
    assert search.root(*bitboards(position)) is child and (0, 0) not in search.nodes
    ones = sum(len({id(one) for one in node.children if one}) for node in search.nodes.values())
    assert len(search.nodes) <= ones + 1, "some nodes have several parents"


def test_random_games_replace_a_network_for_another_number_in_a_row(weights: str) -> None:
    assert isinstance(kaggle_agent.new_search(Board(6, 7, 4), weights).evaluate, Network)
    assert isinstance(kaggle_agent.new_search(Board(9, 11, 4), weights).evaluate, Network)
    for board in (Board(6, 7, 5), Board(60, 70, 4)):
        assert isinstance(kaggle_agent.new_search(board, weights).evaluate, kaggle_agent.Rollouts)
    search = kaggle_agent.new_search(Board(4, 5, 3), weights)  # the first player wins from the centre
    assert search.choose(0, 0, simulations(600)) == 2 and search.root(0, 0).result == 1


# The clock


class FakeTime:
    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(kaggle_agent, "time", fake)
    return fake


def root_with(visits: list[int], q: list[float]) -> Node:
    root = Node([1 << i for i in range(len(visits))])
    root.visits, root.q, root.count = visits, q, 1 + sum(visits)
    return root


def test_a_move_keeps_its_time_with_a_margin_and_a_first_move_with_more() -> None:
    assert Clock(2, bank=0).most == Clock(2, bank=0).normal == 2 - kaggle_agent.MARGIN
    assert Clock(2, bank=0, is_first=True).normal == 2 - kaggle_agent.MARGIN - kaggle_agent.LOADING
    assert 0 < Clock(0.1, bank=0).most <= 0.1


def test_the_bank_lasts_for_the_whole_game_and_keeps_its_reserve() -> None:
    bank = 60.0
    for _ in range(21):
        clock = Clock(2, bank)
        assert clock.normal <= clock.most <= 8
        bank -= max(0.0, clock.most + kaggle_agent.MARGIN - 2)
    assert kaggle_agent.RESERVE <= bank < 25


@pytest.mark.parametrize(
    ("visits", "q", "seconds", "is_over"),
    [
        (
            [10, 900, 90],
            [0.0, 0.5, 0.1],
            1.0,
            True,
        ),  # 90 cannot become 900 in 0.75 s at 1000 visits per second
        ([10, 500, 490], [0.0, 0.5, 0.1], 1.0, False),
        (
            [10, 500, 300],
            [0.0, 0.5, 0.4],
            1.7,
            False,
        ),  # it cannot be overtaken before the bank, but it is close
        ([10, 900, 90], [0.0, 0.5, 0.1], 0.1, False),  # too early to say
        ([10, 900, 90], [0.0, 0.5, 0.1], 2.0, True),
        ([10, 500, 490], [0.0, 0.5, 0.4], 2.0, False),  # close: the bank is used
        ([10, 900, 90], [0.0, 0.2, 0.5], 2.0, False),  # another move looks better
        ([10, 500, 490], [0.0, 0.5, 0.4], 8.0, True),
    ],
)
def test_when_a_search_stops(
    fake_time: FakeTime, visits: list[int], q: list[float], seconds: float, is_over: bool
) -> None:
    clock = Clock(2, bank=60)
    assert not clock.is_over(root_with([0, 0, 0], [0.0] * 3)) if seconds < 1.75 else True
    fake_time.now += seconds
    assert clock.is_over(root_with(visits, q)) is is_over


def test_a_move_that_is_proven_lost_does_not_count(fake_time: FakeTime) -> None:
    root = root_with([10, 900, 90], [0.0, -0.9, 0.1])
    root.children[1] = Node([1], result=1, plies=3)
    clock = Clock(2, bank=0)
    assert not clock.is_over(root_with([0, 0, 0], [0.0] * 3))
    fake_time.now += 1.0
    assert not clock.is_over(root)
    assert Search(Board(1, 3, 2), kaggle_agent.Rollouts(Board(1, 3, 2)), 1.0).best(root) == root.moves[2]


# The file

PLAY = """
import json, random, sys
class Only:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in sys.stdlib_module_names | {"numpy"}:
            raise ImportError(f"{name} is neither numpy nor in the standard library")
sys.meta_path.insert(0, Only())
class Struct(dict):
    pass
found = {}
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "submission.py", "exec"), found)
agent = [value for value in found.values() if callable(value)][-1]
assert agent.__name__ == "agent"
random.seed(1)
for rows, columns, inarow, seconds in json.loads(sys.argv[2]):
    board, stones, mine = [0] * rows * columns, [], random.randint(1, 2)
    configuration = Struct(rows=rows, columns=columns, inarow=inarow, actTimeout=seconds, timeout=seconds)
    for ply in range(rows * columns):
        mark = 1 + ply % 2
        column = random.choice([c for c in range(columns) if not board[c]])
        if mark == mine:
            column = agent(Struct(board=board, mark=mark, remainingOverageTime=0), configuration)
            assert type(column) is int and board[column] == 0, column
        row = max(r for r in range(rows) if not board[r * columns + column])
        board[row * columns + column] = mark
        lines = [[(row + i * y, column + i * x) for i in range(1 - inarow + j, 1 + j)]
                 for y, x in ((0, 1), (1, 0), (1, 1), (1, -1)) for j in range(inarow)]
        if any(all(0 <= r < rows and 0 <= c < columns and board[r * columns + c] == mark for r, c in line) for line in lines):
            print("won" if mark == mine else "lost")
            break
    else:
        print("drawn")
"""


def test_the_file_plays_whole_games_with_numpy_alone(submission: Path) -> None:
    boards = [[6, 7, 4], [6, 7, 4], [5, 6, 4], [6, 7, 5], [4, 4, 3], [1, 1, 1], [1, 5, 4], [3, 3, 9]]
    # On the small board one move decides; a search of it ends long before 5 s, unless the machine is busy.
    timed = [[*board, 5.0 if board == [4, 4, 3] else 0.3] for board in boards]
    done = subprocess.run(
        [sys.executable, "-I", "-c", PLAY, str(submission), json.dumps(timed)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    results = done.stdout.split()
    assert len(results) == len(boards) and results[:5] == ["won"] * 5 and results[-2:] == ["drawn"] * 2


def test_the_file_is_the_module_with_weights_and_the_same_each_time(submission: Path) -> None:
    text = submission.read_text()
    assert text == kaggle.pack("zoo/connect4-small") and len(text) < 400_000
    assert text.startswith("# Made by tengen kaggle pack from 'zoo/connect4-small', generation ")
    assert max(map(len, text.splitlines())) <= 110
    code = re.sub(r'WEIGHTS = """.*?"""', 'WEIGHTS = ""', text, flags=re.DOTALL).split("\n", 1)[1]
    assert code == Path(str(kaggle_agent.__file__)).read_text()
    for line in re.findall(r"^(?:import|from) ([a-z0-9.]+)", text, re.MULTILINE):
        assert line.split(".")[0] in sys.stdlib_module_names | {"numpy"}


# The commands


def test_pack_and_score(here: Here, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "submission.py"
    shown = here.result("kaggle", "pack", "--out", file)
    assert (
        shown.startswith(f"{file}: plays Connect X with zoo/connect4-small, ") and "needs numpy only" in shown
    )
    options: list[str | Path] = [
        "kaggle",
        "score",
        file,
        "-n",
        "12",
        "--seconds",
        "0.1",
        "--beside",
        "uniform",
    ]
    found = json.loads(here.result(*options, "--json"))
    ours, random = found["players"]
    assert ours["player"] == str(file) and ours["good"]["rate"] >= 0.9 > random["good"]["rate"]
    assert ours["perfect"]["n"] == found["positions"] == 12
    shown = here.result(*options[:3], "-n", "2", "--seconds", "0.05", "--beside", "uniform")
    assert (
        shown.startswith("2 positions, 0.05 s per move") and f"\n{file}   " in shown and "\nuniform" in shown
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pack", "--net", "zoo/gomoku15"), "zoo/gomoku15 plays gomoku15: Connect X needs a network for connect4"),
        (("pack", "--net", "zoo/nowhere"), "no bundled network 'nowhere', there are "),
        (("pack", "--net", "nowhere"), "no network in nowhere: expected a folder with card.json and net.onnx"),
        (("pack", "--out", "{tmp}"), "cannot write {tmp}: it is a folder"),
        (("score", "nowhere.py"), "no such file: nowhere.py"),
        (("score", "{tmp}/broken.py"), "{tmp}/broken.py failed on position 1: ZeroDivisionError: "),
        (("score", "{tmp}/empty.py"), "{tmp}/empty.py failed on position 1: IndexError: list index out of range"),
        (("score", "{tmp}/illegal.py"), "{tmp}/illegal.py played column 99 on position 1: it is not a legal move"),
        (("score", "{tmp}/illegal.py", "--beside", "nobody"), "unknown player 'nobody'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(here: Here, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:  # noqa: F811
    (tmp_path / "broken.py").write_text("def agent(observation, configuration):\n    return 1 // 0\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "illegal.py").write_text("def agent(observation):\n    print('hello')\n    return 99\n")
    code, _, errors = here("kaggle", *(one.format(tmp=tmp_path) for one in arguments))
    last = errors.splitlines()[-1]
    assert (
        code == 2 and last.startswith("tengen: " + message.format(tmp=tmp_path)) and "Traceback" not in errors
    )


def test_other_types_of_networks_are_refused(tmp_path: Path) -> None:
    card = json.loads((ZOO / "connect4" / "card.json").read_text())
    card["network"] = {"name": "connect4"}
    for name in ("net.onnx", "int8.onnx", "weights.safetensors"):
        (tmp_path / name).write_bytes((ZOO / "connect4" / name).read_bytes())
    (tmp_path / "card.json").write_text(json.dumps(card))
    with pytest.raises(
        ValueError, match="is of type 'connect4': only networks of type anysize can be packed"
    ):
        kaggle.pack(str(tmp_path))


# Under Kaggle's own package

GAMES = """
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()):  # it reports the environments that need more packages
    from kaggle_environments import make
submission, games = sys.argv[1], int(sys.argv[2])
for game in range(games):
    environment = make("connectx")
    seats = [submission, "negamax"] if game % 2 == 0 else ["negamax", submission]
    mine = seats.index(submission)
    environment.run(seats)
    state = environment.state[mine]
    seconds = [moves[mine]["duration"] for moves in environment.logs if len(moves) > mine and moves[mine]]
    print(json.dumps([state.reward, state.status, state.observation.remainingOverageTime, max(seconds)]))
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_beats_negamax_in_20_of_20_games_and_never_loses_on_time(submission: Path) -> None:
    assert KAGGLE.exists(), "run `make kaggle` first: an environment with kaggle-environments"
    done = subprocess.run([str(KAGGLE), "-c", GAMES, str(submission), "20"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(reward, status) for reward, status, _, _ in results] == [(1, "DONE")] * 20
    for _, _, bank, slowest in results:
        assert bank >= kaggle_agent.RESERVE - 2 and slowest <= 10, results


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_is_nearly_as_strong_as_the_full_player(submission: Path) -> None:
    from tengen.arena import reference

    positions = reference.read(reference.OWN_SET)[:100]
    score = reference.score(kaggle.ask(submission, positions, 2.0))
    assert score.good.rate >= 0.96 and score.perfect.rate >= 0.85 and score.good.n == 100
