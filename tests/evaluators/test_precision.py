"""The precision that a network plays with here: asked once, remembered, never trusted blindly."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen import games
from tengen.evaluators import precision
from tengen.evaluators.agreement import answers, compared
from tengen.evaluators.card import Card, hash_of, read_card, read_onnx
from tengen.evaluators.lookup import Lookup
from tengen.evaluators.precision import precision_here
from tengen.evaluators.probe import Probe
from tengen.evaluators.zoo import bundled, find_network

GAME = games.find("tictactoe")
FAST = Probe(True, 0.001, 0.99, 0.01, 1000.0, 1900.0, "int8 is 1.90 × as fast")
DEADLY = Probe(False, None, None, None, None, None, "the process died of SIGILL")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(precision, "_planes", lambda *_: np.zeros((256, 2, 3, 3), np.float32))
    for name in ("net.onnx", "int8.onnx"):
        (tmp_path / name).write_bytes(b"a network")
    (tmp_path / "card.json").write_text(card_of().to_text())
    return tmp_path


def card_of(channels: int = 8) -> Card:
    hashes = dict.fromkeys(("fp32", "int8"), hash_of(b"a network"))
    return Card("tictactoe", {"channels": channels}, (0, 1), 1, 0.97, "int8", hashes=hashes)


@pytest.mark.parametrize(("found", "expected"), [(FAST, "int8"), (DEADLY, "fp32")])
def test_a_probe_decides_once_for_networks_of_a_size(
    folder: Path, monkeypatch: pytest.MonkeyPatch, found: Probe, expected: str
) -> None:
    asked: list[Any] = []

    def probed(*networks: Any) -> Probe:
        asked.append(networks)
        return found

    monkeypatch.setattr(precision, "probe", probed)
    memory = folder / "memory.json"
    for _ in range(3):
        assert precision_here(folder, card_of(), GAME, memory) == expected
    assert len(asked) == 1 and asked[0][2].shape == (256, 2, 3, 3)
    precision_here(folder, card_of(channels=16), GAME, memory)
    assert len(asked) == 2 and len(json.loads(memory.read_text())) == 2


@pytest.mark.parametrize("rubbish", ["{", "[]", '"int8"'])
def test_a_damaged_memory_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch, rubbish: str) -> None:
    monkeypatch.setattr(precision, "probe", lambda *_: FAST)
    memory = folder / "memory.json"
    memory.write_text(rubbish)
    assert precision_here(folder, card_of(), GAME, memory) == "int8"
    assert list(json.loads(memory.read_text()).values()) == ["int8"]


def test_fp32_asks_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(precision, "probe")
    card = Card("tictactoe", {}, (0, 1), 1, 0.97, "fp32")
    assert precision_here(folder, card, GAME, folder / "memory.json") == "fp32"


def test_a_probe_that_found_out_nothing_is_not_remembered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = Probe(False, None, None, None, None, None, "the process did not answer", is_conclusive=False)
    memory = folder / "memory.json"
    monkeypatch.setattr(precision, "probe", lambda *_: hung)
    assert precision_here(folder, card_of(), GAME, memory) == "fp32" and not memory.exists()
    monkeypatch.setattr(precision, "probe", lambda *_: FAST)
    assert precision_here(folder, card_of(), GAME, memory) == "int8"


@pytest.mark.parametrize("name", bundled())
def test_what_a_bundled_network_plays_with_agrees_with_fp32_in_its_own_games(name: str) -> None:
    """Random games are no test: gomoku15 has never seen such positions, and would play in slow fp32."""
    path = find_network(f"zoo/{name}")
    card = read_card(path)
    fp32, played = (read_onnx(path, card, kind) for kind in ("fp32", card.precision))
    planes = precision._planes(fp32, card, games.find(card.game))
    assert len(planes) == 256 and len({one.tobytes() for one in planes}) > 100
    by_table = card.precision == "lookup"
    found = Lookup.of(played).answers(planes) if by_table else answers(played, planes)
    assert compared(answers(fp32, planes), found).is_close
    assert card.precision != "fp32"


def test_a_file_that_is_no_network_is_left_to_those_who_open_it(tmp_path: Path) -> None:
    for name in ("net.onnx", "int8.onnx"):
        (tmp_path / name).write_bytes(b"a network")
    assert precision_here(tmp_path, card_of(), GAME, tmp_path / "memory.json") == "fp32"
    assert not (tmp_path / "memory.json").exists()
