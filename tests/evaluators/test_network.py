"""A network is opened in one place, shared by threads, and plays every board of its family."""

import gc
import shutil
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import games
from tengen.errors import UserError
from tengen.evaluators import network
from tengen.evaluators.cache import CachedEvaluator
from tengen.evaluators.card import Card, Precision, read_card
from tengen.evaluators.evaluator import Evaluation, Evaluator
from tengen.evaluators.family import planes_for
from tengen.evaluators.gathering import Answers, Gathering
from tengen.evaluators.network import Network, open_network
from tengen.evaluators.onnx import OnnxEvaluator
from tengen.evaluators.zoo import ZOO, find_network, nearest
from tengen.games.game import Game, Mask, Planes, State
from tengen.nets.checkpoint import load_net
from tengen.nets.evaluator import TorchEvaluator, find_device
from tengen.search.mcts import Search
from tengen.search.puct import Puct
from tests.evaluators.fakes import assert_same, legal_actions, positions
from tests.evaluators.test_gathering import in_threads

CONNECT4, GOMOKU15 = games.find("connect4"), games.find("gomoku15")
OTHER_SIZES = ["gomoku13", "gomoku20", "standard15", "caro19", "renju15", "mnk:rows=9,cols=12,k=5"]


def asked(evaluator: Evaluator, states: State, legal: Mask) -> Evaluation:
    """The answers in arrays of their own."""
    found = evaluator.evaluate(states, legal)
    plies_left = None if found.plies_left is None else found.plies_left.copy()
    return Evaluation(found.logits.copy(), found.values.copy(), plies_left)


def some(game: Game, count: int) -> tuple[State, Mask]:
    states = positions(game, count)
    return states, legal_actions(game, states)


def test_a_run_in_training_may_replace_it_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "best"
    shutil.copytree(ZOO / "connect4", folder)
    reads = 0

    def read_and_replace(path: Path) -> Card:
        nonlocal reads
        card, reads = read_card(path), reads + 1
        if reads == 1:
            shutil.copytree(ZOO / "gomoku9", folder, dirs_exist_ok=True)
        return card

    monkeypatch.setattr(network, "read_card", read_and_replace)
    assert open_network(folder, "fp32").card.game == "gomoku9"
    (folder / "net.onnx").write_bytes(b"damaged")
    with pytest.raises(UserError, match="damaged"):
        open_network(folder, "fp32")


def test_opened_twice_it_is_the_same_network_as_long_as_somebody_has_it() -> None:
    one = open_network("zoo/connect4", "fp32")
    assert open_network("zoo/connect4", "fp32") is one and open_network(ZOO / "connect4", "fp32") is one
    assert open_network("zoo/connect4", "int8") is not one
    assert (one.precision, one.card.game, one.source) == ("fp32", "connect4", "zoo/connect4")
    last = weakref.ref(one)
    gc.disable()
    try:
        del one
        assert last() is None, "its session goes with the last who had it"
    finally:
        gc.enable()


def test_a_network_that_was_replaced_in_its_folder_is_another(tmp_path: Path) -> None:
    folder = tmp_path / "net"
    shutil.copytree(ZOO / "tictactoe", folder)
    one = open_network(folder, "fp32")
    card = replace(read_card(folder), discount=0.5)
    (folder / "card.json").write_text(card.to_text())
    assert open_network(folder, "fp32").card.discount == 0.5 != one.card.discount


def test_paths_are_bundled_networks_runs_and_folders(tmp_path: Path) -> None:
    assert find_network("zoo/gomoku9") == ZOO / "gomoku9"
    shutil.copytree(ZOO / "tictactoe", tmp_path / "run" / "best")
    assert find_network(str(tmp_path / "run")) == tmp_path / "run" / "best"
    assert find_network(str(tmp_path / "run" / "best")) == tmp_path / "run" / "best"
    with pytest.raises(UserError) as error:
        open_network("zoo/chess")
    names = (
        "caro15, connect4, connect4-small, gomoku15, gomoku6, gomoku9, hex11, othello8, renju15, tictactoe"
    )
    assert str(error.value) == f"no bundled network 'chess', there are {names}: tengen train chess makes one"


# ---- many searches


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_eight_threads_get_what_each_would_get_alone(precision: Precision) -> None:
    """ONNX Runtime's answers change by some 2e-6 with the size of a batch, and no more."""
    network, (states, legal) = open_network("zoo/connect4", precision), some(CONNECT4, 400)
    alone = asked(network.direct(CONNECT4), states, legal)
    before = threading.active_count()

    def search(number: int) -> None:
        random, evaluator = np.random.default_rng(number), network.evaluator(CONNECT4)
        for _ in range(60):
            chosen = random.integers(0, len(states), int(random.integers(1, 20)))
            found = evaluator.alone.evaluate(states[chosen], legal[chosen])
            assert np.abs(found.logits - alone.logits[chosen]).max() < 1e-3
            assert np.abs(found.values - alone.values[chosen]).max() < 1e-3

    assert in_threads(8, search) == []
    assert threading.active_count() == before


def test_evaluators_share_the_network_and_nothing_else() -> None:
    """A search that remembers something does not change what another one asks."""
    network, (states, legal) = open_network("zoo/connect4", "fp32"), some(CONNECT4, 50)
    one, other = network.evaluator(CONNECT4), network.evaluator(CONNECT4)
    first = asked(one, states, legal)
    kept = one.evaluate(states, legal)
    assert one.alone.hits > 0 and other.alone.requests == 0
    assert_same(
        asked(other, states[::-1].copy(), legal[::-1].copy()),
        asked(other, states[::-1].copy(), legal[::-1].copy()),
    )
    assert_same(kept, first)
    one.clear()
    hits = one.alone.hits
    assert_same(asked(one, states, legal), first)
    assert one.alone.hits == hits
    assert 0 < one.memory < 1 << 20 and network.evaluator(CONNECT4, memory=1 << 16).alone.capacity < 1000


def test_searches_that_share_a_network_find_what_each_finds_alone() -> None:
    """With a network whose rows do not depend on the batch, every visit and value is the same."""
    weights = np.random.default_rng(1).integers(1, 10_007, (4 * 42, 9))

    def run(planes: Planes) -> Answers:
        numbers = planes.reshape(len(planes), -1).astype(np.int64) @ weights % 10_007
        answers = (numbers / 10_007 - 0.5).astype(np.float32)
        return [answers[:, :7].copy(), answers[:, 7].copy(), answers[:, 8].copy()]

    starts = positions(CONNECT4, 200)[::8]

    def searched(shared: Callable[[Planes], Answers], state: State) -> tuple[list[int], list[float]]:
        cache = CachedEvaluator(OnnxEvaluator(CONNECT4, (0, 1, 2, 3), shared), CONNECT4, memory=1 << 20)
        search = Search(CONNECT4, cache, Puct(), max_simulations=400, leaves_per_round=8)
        search.begin(state[None])
        search.run(400)
        found = search.result()
        return found.visits[0].tolist(), found.values.tolist()

    alone = [searched(run, state) for state in starts]
    gathering = Gathering(run)

    def search(number: int) -> None:
        for i in np.random.default_rng(number).permutation(len(starts)):
            assert searched(gathering, starts[i]) == alone[i]

    assert in_threads(8, search) == []


# ---- every size


@pytest.mark.parametrize(
    ("bundled", "precision"),
    [("gomoku15", "fp32"), ("gomoku15", "lookup"), ("caro15", "fp32"), ("caro15", "int8")],
)
@pytest.mark.parametrize("name", OTHER_SIZES)
def test_a_network_plays_other_boards_as_pytorch_says(name: str, bundled: str, precision: Precision) -> None:
    game, network = games.find(name), open_network(f"zoo/{bundled}", precision)
    states, legal = some(game, 40)
    found = asked(network.evaluator(game).alone, states, legal)
    expected = asked(TorchEvaluator(game, load_net(ZOO / bundled), find_device("cpu")), states, legal)
    assert found.logits.shape == (40, game.num_actions)
    if precision == "fp32":
        assert np.abs(found.logits - expected.logits).max() < 1e-3
        assert np.abs(found.values - expected.values).max() < 1e-4
    elif precision == "lookup":
        assert np.abs(found.logits - expected.logits).max() < 0.005 * np.abs(expected.logits).max()
        assert np.abs(found.values - expected.values).max() < 0.01
        assert (found.logits.argmax(axis=1) == expected.logits.argmax(axis=1)).mean() >= 0.95
    else:
        assert np.abs(found.values - expected.values).mean() < 0.05
        assert (found.logits.argmax(axis=1) == expected.logits.argmax(axis=1)).mean() >= 0.8


def test_connect_on_another_board() -> None:
    game, network = games.find("connect:rows=7,cols=9,k=4"), open_network("zoo/connect4", "fp32")
    states, legal = some(game, 40)
    found = asked(network.direct(game), states, legal)
    expected = asked(TorchEvaluator(game, load_net(ZOO / "connect4"), find_device("cpu")), states, legal)
    assert np.abs(found.logits - expected.logits).max() < 1e-3


@pytest.mark.parametrize(
    ("network", "game", "message"),
    [
        ("connect4", "tictactoe", "zoo/connect4 plays connect4, not tictactoe"),
        ("gomoku15", "hex7", "zoo/gomoku15 plays gomoku15, not hex7"),
    ],
)
def test_games_of_another_family_are_refused(network: str, game: str, message: str) -> None:
    for refused in ("check_plays", "evaluator", "direct"):
        with pytest.raises(UserError) as error:
            getattr(open_network(f"zoo/{network}", "fp32"), refused)(games.find(game))
        assert str(error.value) == message


def test_a_network_of_one_size_plays_that_size_alone() -> None:
    """Those that were exported before have no any_size on their card."""
    network = open_network("zoo/gomoku9", "fp32")
    old = Network(replace(network.card, any_size=False), network.data)
    old.check_plays(games.find("mnk:rows=9,cols=9,k=5"))
    with pytest.raises(UserError, match=r"^the network plays gomoku9, not gomoku11: .* for 9×9 alone$"):
        old.check_plays(games.find("gomoku11"))
    unknown = Network(replace(network.card, game="somebody's own"), network.data)
    with pytest.raises(UserError, match=r"^the network plays somebody's own, not gomoku11$"):
        unknown.check_plays(games.find("gomoku11"))


def test_planes_are_found_by_their_names() -> None:
    """The same planes in another order: the network gets them in its own."""
    network, game = open_network("zoo/gomoku9", "fp32"), games.find("gomoku9")
    names = ("forbidden", "last move", "mine", "theirs", "first to move")
    assert sorted(names) == sorted(game.plane_names) and network.card.planes == (0, 1, 3, 4)
    other = replace(game, name="turned", plane_names=names)
    assert [names[i] for i in planes_for(network.card, other, "it")] == [
        "mine",
        "theirs",
        "first to move",
        "forbidden",
    ]
    lacking = replace(game, name="lacking", plane_names=("mine", "theirs", "last move", "first", "forbidden"))
    with pytest.raises(UserError, match="plays gomoku9, not lacking"):
        network.check_plays(lacking)


@pytest.mark.parametrize(
    ("name", "near", "reason"),
    [
        ("gomoku15", "gomoku15", ""),
        ("mnk:rows=15,cols=15,k=5", "gomoku15", ""),
        ("gomoku11", "gomoku9", "no network for gomoku11: playing with gomoku9's"),
        ("gomoku13", "gomoku15", "no network for gomoku13: playing with gomoku15's"),
        ("caro19", "caro15", "no network for caro19: playing with caro15's"),
        ("caro15-exact", "caro15", "no network for caro15-exact: playing with caro15's"),
        ("mnk:rows=9,cols=9,k=5,rule=standard", "gomoku9", "no network for mnk:rows=9,cols=9,k=5,rule=standard: playing with gomoku9's"),
        ("standard15", "gomoku15", "no network for standard15: playing with gomoku15's"),
        ("hex11", "hex11", ""),
        ("hex7", "hex11", "no network for hex7: playing with hex11's"),
        ("mnk:rows=7,cols=7,k=4", "gomoku6", "no network for mnk:rows=7,cols=7,k=4: playing with gomoku6's"),
        ("mnk:rows=4,cols=4,k=4", "gomoku6", "no network for mnk:rows=4,cols=4,k=4: playing with gomoku6's"),
        ("mnk:rows=4,cols=4,k=3", "tictactoe", "no network for mnk:rows=4,cols=4,k=3: playing with tictactoe's"),
        ("connect:rows=7,cols=8,k=4", "connect4", "no network for connect:rows=7,cols=8,k=4: playing with connect4's"),
    ],
)  # fmt: skip
def test_the_nearest_bundled_network(name: str, near: str, reason: str) -> None:
    assert nearest(games.find(name)) == (near, reason)


@pytest.mark.parametrize("name", ["mnk:rows=9,cols=9,k=6", "connect:rows=7,cols=7,k=5"])
def test_games_without_a_bundled_network(name: str) -> None:
    assert nearest(games.find(name)) is None


def test_a_network_says_that_it_was_trained_for_another_game() -> None:
    network = open_network("zoo/gomoku15", "fp32")
    assert network.notice(GOMOKU15) == network.notice(games.find("mnk:rows=15,cols=15,k=5")) == ""
    assert network.notice(games.find("caro19")) == "zoo/gomoku15 was trained for gomoku15 and plays caro19"
