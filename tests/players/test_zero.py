"""A trained network as a player. The weights here are random: what it says is checked, not how well."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen import games, nets, notices, players
from tengen.errors import UserError
from tengen.evaluators.card import Card, hash_of
from tengen.evaluators.network import Network, open_network
from tengen.games.position import Position
from tengen.nets.export import to_int8, to_onnx
from tengen.players.limit import Clock, Limit
from tengen.players.player import Player
from tengen.players.zero import Zero
from tests.cli.test_commands import result

GAME = games.find("connect4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint in a run."""
    best = tmp_path_factory.mktemp("run") / "best"
    best.mkdir()
    net = nets.make("anysize", GAME, {"channels": 8, "blocks": 2}, seed=3).eval()
    planes = np.random.default_rng(1).integers(0, 2, (64, *GAME.planes_shape)).astype(np.float32)
    fp32 = to_onnx(net, planes)
    int8 = to_int8(fp32, np.ascontiguousarray(planes[:, net.planes]))
    hashes = {"fp32": hash_of(fp32), "int8": hash_of(int8)}
    card = Card("connect4", {"name": "anysize"}, net.planes, 1, 0.97, "fp32", hashes=hashes)
    (best / "net.onnx").write_bytes(fp32)
    (best / "int8.onnx").write_bytes(int8)
    (best / "card.json").write_text(card.to_text())
    return best.parent


def zero(folder: Path, settings: str = "sims=64") -> Player:
    return players.find(f"zero:{folder}:{settings}", GAME)


def test_one_simulation_is_the_network_alone(folder: Path) -> None:
    position = Position.from_moves(GAME, "44536")
    network = open_network(folder, "fp32").direct(GAME)
    evaluation = network.evaluate(position.state[None], position.legal_mask[None])
    choice = zero(folder, "sims=1").choose(position)
    assert choice.action == evaluation.logits[0].argmax()
    assert choice.value == pytest.approx(evaluation.values[0]) and choice.note == "the network alone"


@pytest.mark.parametrize(
    "settings", ["sims=64", "sims=64,search=puct", "seconds=0.3", "sims=64,precision=int8"]
)
def test_a_win_in_one_is_found(folder: Path, settings: str) -> None:
    """Three on the bottom row; column 1 or 5 wins."""
    player = zero(folder, settings)
    player.prepare()
    choice = player.choose(Position.from_moves(GAME, "223344"))
    assert choice.action in (0, 4) and choice.value == pytest.approx(0.97)


def test_positions_together_are_as_each_alone(folder: Path) -> None:
    positions = [Position.from_moves(GAME, moves) for moves in ("", "4", "4453", "1234567")]
    player = zero(folder, "sims=50")
    together = player.choose_many(positions)
    assert [choice.action for choice in together] == [player.choose(one).action for one in positions]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zero:zoo/chess", "no bundled network 'chess', there are caro15, connect4"),
        ("zero:nowhere", "no network in nowhere: expected a folder with card.json and net.onnx"),
        ("zero:{folder}:sims=0", "player 'zero': sims is 1 or more, got 0"),
        ("zero:{folder}:search=minmax", "player 'zero': search is puct or gumbel, got 'minmax'"),
        ("zero:{folder}:precision=int4", "player 'zero': precision is fp32, int8 or lookup, got 'int4'"),
        ("zero:{folder}:search=gumbel,seconds=1", "player 'zero': gumbel search takes sims, not seconds"),
    ],
)
def test_mistakes_are_named(folder: Path, spec: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        players.find(spec.format(folder=folder), GAME)
    assert message in str(error.value)


def test_a_network_for_another_game_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="plays connect4, not tictactoe"):
        players.find(f"zero:{folder}", games.find("tictactoe"))


def test_a_file_that_was_altered_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("card.json", "net.onnx"):
        (tmp_path / name).write_bytes((folder / "best" / name).read_bytes())
    data = bytearray((tmp_path / "net.onnx").read_bytes())
    data[-20] ^= 1
    (tmp_path / "net.onnx").write_bytes(data)
    with pytest.raises(UserError, match=r"net\.onnx is damaged"):
        players.find(f"zero:{tmp_path}", GAME)


def test_it_plays_as_it_was_trained(folder: Path) -> None:
    """A few hundred simulations keep the search of its training; with more, and with time, it is PUCT."""
    start = Position.start(GAME)
    assert zero(folder).analyse(start).snapshot.search == "Gumbel"
    assert zero(folder, "sims=401").analyse(start).snapshot.search == "Puct"
    assert zero(folder, "sims=401,search=gumbel").analyse(start).snapshot.search == "Gumbel"
    assert zero(folder, "seconds=1").analyse(start).snapshot.search == "Puct"
    for limit in (Limit(seconds=1), Limit(clock=Clock(60)), Limit(simulations=9, seconds=1), Limit()):
        assert zero(folder).analyse(start, limit).snapshot.search == "Puct"


def test_a_search_of_some_moves_alone_is_as_it_was_trained_also_with_a_clock(folder: Path) -> None:
    """The levels use it: a limit of time may end their search early, and changes nothing else."""
    start, player = Position.start(GAME), zero(folder)
    assert isinstance(player, Zero)
    seen = np.arange(GAME.num_actions) % 2 == 0
    for limit in (Limit(simulations=9), Limit(simulations=9, seconds=60), Limit(simulations=500)):
        thinking = player.search(start, limit, seen)
        while not thinking.run(1.0):
            pass
        found = thinking.snapshot()
        assert found.search == "Gumbel"
        assert {info.move for info in found.moves if info.visits} <= {"1", "3", "5", "7"}


def test_a_position_is_analysed_by_a_network(folder: Path) -> None:
    found = json.loads(
        result("analyse", "connect4", "223344", "--player", f"zero:{folder}", "--sims", "50", "--json")
    )
    assert found["moves"][0]["move"] in ("1", "5") and found["moves"][0]["proven"] == "win"


def test_a_search_sees_wins_if_its_network_was_trained_so() -> None:
    """Of a position with a five to make, the rules are sure; the network's own opinion is another."""
    position = Position.from_moves("gomoku9", "a1 i9 b1 i8 c1 h9 d1 h8")
    network, legal = open_network("zoo/gomoku9"), position.legal_mask[None]
    evaluator, card = network.evaluator(position.game), network.card
    assert card.sees_wins
    seen = evaluator.evaluate(position.state[None], legal)
    assert seen.logits.argmax() == position.game.moves.action("e1")
    assert seen.values[0] == np.float32(card.discount)
    alone = evaluator.alone.evaluate(position.state[None], legal)
    assert abs(alone.values[0] - card.discount) > 1e-6
    plain = Network(replace(card, sees_wins=False), network.data).evaluator(position.game)
    assert np.array_equal(plain.evaluate(position.state[None], legal).values, alone.values)


def folder_with(tmp_path: Path, folder: Path, data: bytes | None = None, **changes: Any) -> Path:
    """A network whose card has the right hash, with other content."""
    card = json.loads((folder / "best" / "card.json").read_text())
    data = data if data is not None else (folder / "best" / "net.onnx").read_bytes()
    (tmp_path / "net.onnx").write_bytes(data)
    (tmp_path / "card.json").write_text(json.dumps(card | {"hashes": {"fp32": hash_of(data)}} | changes))
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"planes": [0, 1, 99]}, "card.json names plane 99, counted from 0; connect4 has 4"),
        ({"planes": [0, 1]}, "net.onnx is not a network for connect4: "),
        ({"planes": []}, "card.json is not a network's card: planes cannot be ()"),
        ({"planes": [0, -1]}, "planes cannot be (0, -1)"),
        ({"planes": [0, "1"]}, "planes cannot be (0, '1')"),
        ({"planes": 3}, "card.json is not a network's card"),
        ({"precision": "int4"}, "precision cannot be 'int4'"),
        ({"discount": "much"}, "discount cannot be 'much'"),
        ({"discount": float("nan")}, "discount cannot be nan"),
        ({"search": "minimax"}, "search cannot be 'minimax'"),
        ({"c_scale": None}, "c_scale cannot be None"),
        ({"hashes": []}, "hashes cannot be []"),
        ({"surprise": 1}, "card.json is not a network's card"),
    ],
)
def test_a_card_that_makes_no_sense_is_refused(
    folder: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as error:
        zero(folder_with(tmp_path, folder, **changes))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_no_network_of_the_game_is_refused(folder: Path, tmp_path: Path) -> None:
    """Its hash is right."""
    other = games.find("gomoku9")
    planes = np.zeros((4, *other.planes_shape), np.float32)
    net = nets.make("anysize", other, {"channels": 8, "blocks": 2}).eval()
    fully_connected = nets.make("mnk", other).eval()
    for data, seen in (
        (b"", [0, 1, 3]),
        (b"no network", [0, 1, 3]),
        (to_onnx(net, planes), list(net.planes)[:3]),
        (to_onnx(fully_connected, planes), list(fully_connected.planes)),
    ):
        with pytest.raises(UserError, match=r"net\.onnx is not a network for connect4: ") as error:
            zero(folder_with(tmp_path, folder, data, planes=seen))
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["gomoku13", "gomoku20", "standard15", "caro19", "mnk:rows=9,cols=12,k=5"])
def test_one_network_plays_every_size_and_rule_without_pytorch(name: str) -> None:
    """Four in a row and a free end: it completes the five, and expects to win."""
    code = f"""
import sys
sys.modules["torch"] = sys.modules["onnx"] = None
from tengen import games, players
from tengen.games.position import Position
game = games.find({name!r})
position = Position.from_moves(game, "c3 c5 d3 e6 e3 g7 f3 h8")
with players.find("zero:zoo/gomoku15:sims=32", game) as player:
    choice = player.choose(position)
print(game.moves.name(choice.action), choice.value)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    move, value = done.stdout.split()
    assert move in ("b3", "g3") and float(value) == pytest.approx(0.97)
    assert f"zoo/gomoku15 was trained for gomoku15 and plays {name}" in done.stderr


def test_a_game_without_a_network_is_played_by_the_nearest_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(notices, "say_once", said.append)
    for name in ("gomoku11", "gomoku9"):
        game = games.find(name)
        with players.find("zero:sims=8", game) as player:
            assert player.choose(Position.start(game)).action >= 0
    assert said == ["no network for gomoku11: playing with gomoku9's"]
    with pytest.raises(UserError, match="no bundled network 'connect:rows=7,cols=7,k=5', there are"):
        players.find("zero:sims=8", games.find("connect:rows=7,cols=7,k=5"))
