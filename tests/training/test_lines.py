"""Runs of a network of lines: it plays by its table from the first game on, and others can go on with it."""

import json
from pathlib import Path

import pytest

from tengen import players
from tengen.errors import UserError
from tengen.evaluators.lookup import Lookup
from tengen.evaluators.network import open_network
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.training.checkpoint import read
from tests.training.test_start import trained

LINES = ["network.name=lines", "network.channels=8", "length.generations=2"]


def test_it_plays_by_table_from_the_first_game_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = trained("lines", *LINES)
    assert run.config.selfplay.precision == "lookup"
    [choice] = [one for one in run.config.changes if one.setting == "selfplay.precision"]
    assert choice.before == "auto" and "by a table" in choice.why
    for number in range(3):
        checkpoint = read(run.checkpoint(number))
        assert checkpoint.card.precision == "lookup" and set(checkpoint.networks) == {"fp32", "lookup"}
        assert Lookup.of(checkpoint.networks["lookup"]).layers.cell_bias.shape == (8,)
    assert checkpoint.card.network == {"name": "lines", "channels": 8}
    [*_, last] = run.metrics()
    assert last["export"]["precision"] == "lookup" and last["export"]["kl"] < 1e-4
    again = trained("again", *LINES)
    for name in ("lookup.safetensors", "weights.safetensors"):
        assert (again.folder / "best" / name).read_bytes() == (run.folder / "best" / name).read_bytes()
    # a player, on a larger board than it was trained for, in each way that it can be asked
    position = Position.from_moves("mnk:rows=4,cols=5,k=3", "b2")
    for precision in ("", ":precision=lookup", ":precision=fp32"):
        with players.find(f"zero:runs/lines{precision}", position.game) as player:
            player.new_game(1)
            assert player.choose(position, Limit(simulations=8)).action in position.legal_actions
    with pytest.raises(UserError, match=r"no such file: .*int8"):
        open_network("runs/lines", "int8")
    with pytest.raises(UserError, match="precision is fp32, int8 or lookup, got 'fp16'"):
        players.find("zero:runs/lines:precision=fp16", position.game)


def test_another_run_begins_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = trained("first", *LINES)
    later = trained("later", *LINES, "network.start=runs/first", "replay.least_positions=9999")
    start, best = ((run.folder / "best" / "lookup.safetensors").read_bytes() for run in (first, later))
    assert start == best  # nothing was learned before the window was full
    with pytest.raises(UserError, match="these weights do not fit the network of this run"):
        trained("wider", *LINES, "network.channels=12", "network.start=runs/first")
    with pytest.raises(UserError, match="is a network of type lines, and this run trains anysize: choose"):
        trained("other", "length.generations=1", "network.start=runs/first")


def test_only_a_network_of_lines_has_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"lookup is for a network of type lines .*got anysize for tictactoe"):
        trained("other", "length.generations=1", "selfplay.precision=lookup")
    assert not Path("runs/other").exists()


def test_a_damaged_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    best = trained("lines", *LINES).folder / "best"
    (best / "lookup.safetensors").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="is damaged: it is not the file that"):
        open_network("runs/lines")
    card = json.loads((best / "card.json").read_text()) | {"precision": "table"}
    (best / "card.json").write_text(json.dumps(card))
    with pytest.raises(UserError, match="precision cannot be 'table'"):
        open_network("runs/lines")
