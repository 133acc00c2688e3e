"""`tengen net`: what it prints, and what it refuses."""

import json
import re
from importlib import util
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen import games
from tengen.bench.network import BATCHES, speeds
from tengen.cli.net import net
from tengen.errors import UserError
from tengen.evaluators.samples import random_planes
from tengen.nets.describe import fitting
from tengen.nets.export import to_onnx
from tests.cli.test_commands import tengen

TABLE = """\
anysize for connect4, channels=32, blocks=2, pool_every=2, value=scalar, discount=1.0

                                                        output   parameters   multiply-adds
input   3 planes of the game's 4                         3×6×7
trunk   conv 7×7, batch norm, ReLU                      32×6×7        4,768         197,568
        residual block 1: conv 3×3, conv 3×3            32×6×7       18,560         774,144
        pooling block 2: conv 3×3, linear, conv 3×3     32×6×7       20,640         776,192
value   means and maxima of the board                       64
        linear, ReLU                                        64        4,160           4,096
        linear                                               2          130             128
policy  conv 1×1, batch norm, ReLU                      16×6×7          544          21,504
        means and maxima of the columns                   7×32
        linear                                             7×1           33             224
total                                                                48,835       1,773,856
"""


def test_a_table_and_pictures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    svg, png = tmp_path / "net.svg", tmp_path / "net.png"
    net("anysize", "connect4", ["channels=32", "blocks=2"], svg, png, seconds=0)
    assert capsys.readouterr().out == TABLE
    assert "anysize for connect4" in "".join(ElementTree.parse(svg).getroot().itertext())
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["anysize", "gobang", "gomoku", "connect4", "mnk"])
def test_tables_fit_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    net(name, "renju15", seconds=0)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and lines[-1].startswith("total")


def test_speed_as_a_user_sees_it() -> None:
    done = tengen("net", "mnk", "--game", "tictactoe", "--seconds", "0.001", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["network"] == "mnk" and facts["parameters"] == sum(
        row["parameters"] for row in facts["layers"]
    )
    assert facts["multiply_adds"] == sum(row["multiply_adds"] for row in facts["layers"])
    rates = facts["evaluations_per_second"]
    assert set(rates["fp32"]) == {str(batch) for batch in BATCHES} and min(rates["fp32"].values()) > 0


def test_a_precision_that_kills_its_process_is_left_out() -> None:
    game = games.find("tictactoe")
    network, planes = fitting("mnk", game, {})[0], random_planes(game, 256)
    fp32 = to_onnx(network, planes)
    seen = np.ascontiguousarray(planes[:, network.planes])
    rates = speeds({"fp32": fp32, "int8": b"no network"}, seen, 0.001)
    assert list(rates) == ["fp32"] and set(rates["fp32"]) == set(BATCHES)


def test_where_int8_is_not_possible_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tengen.nets.export.to_int8", lambda fp32, planes: b"no network")
    net("mnk", "tictactoe", seconds=0.001)
    assert capsys.readouterr().out.endswith("\nint8: not possible here\n")


@pytest.mark.parametrize(
    ("name", "game", "settings", "message"),
    [
        ("anysiz", "connect4", [], "unknown network 'anysiz', did you mean anysize?"),
        ("anysize", "conect4", [], "unknown game 'conect4', did you mean connect4?"),
        ("anysize", "connect4", ["channel=3"], "network 'anysize' has no setting 'channel', did you mean channels?"),
        ("anysize", "connect4", ["channels=many"], "channels is a whole number, got 'many'"),
        ("anysize", "connect4", ["channels"], "--set is key=value, got 'channels'"),
        ("anysize", "connect4", ["blocks=0"], "blocks is a whole number from 1 to 4096, got 0"),
        ("anysize", "connect4", ["discount=2"], "discount is a number from 0 to 1, got 2"),
        ("gobang", "connect4", ["blocks=2"], "network 'gobang' has no setting 'blocks': it takes none"),
    ],
)  # fmt: skip
def test_mistakes(name: str, game: str, settings: list[str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        net(name, game, settings)
    assert str(caught.value) == message


def test_a_picture_that_cannot_be_written_comes_before_the_long_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "net"
    message = re.escape(f"cannot write {file}: No such file or directory")
    with pytest.raises(UserError, match=message):
        net("mnk", "tictactoe", svg=file)
    with pytest.raises(UserError, match=message):
        net("mnk", "tictactoe", png=file)
    assert capsys.readouterr().out == ""


def test_without_pytorch_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(UserError) as caught:
        net("anysize", "connect4")
    assert str(caught.value) == "tengen net needs the train extra: pip install '.[train]' in the clone"
