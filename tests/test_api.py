"""`import tengen`: light, complete, documented by examples that run, and at home in notebooks."""

import doctest
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tengen
from tengen import api
from tengen.errors import UserError

BREAKTHROUGH = Path(__file__).parents[1] / "examples" / "breakthrough.py"


def test_the_import_is_light() -> None:
    """Nothing heavy is imported before it is used."""
    code = "import sys, tengen; print([name for name in ('numba', 'numpy', 'torch', 'onnxruntime', 'rich') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there_and_nothing_else() -> None:
    for name in tengen.__all__:
        assert getattr(tengen, name) is not None and name in dir(tengen)
    with pytest.raises(AttributeError, match="module 'tengen' has no attribute 'chess'"):
        _ = tengen.chess


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(tengen.__file__).with_name("py.typed").is_file()


def test_the_examples_in_the_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # one of them trains
    found = doctest.testmod(api)
    assert found.attempted >= 8 and found.failed == 0
    documented = [
        function for function in vars(api).values() if getattr(function, "__module__", "") == api.__name__
    ]
    assert all(function.__doc__ for function in documented)


def test_a_game_comes_by_name_as_an_object_or_from_a_file() -> None:
    assert tengen.find_game("gomoku9").name == "gomoku9"
    assert tengen.find_game(tengen.games.find("gomoku9")).name == "gomoku9"
    assert tengen.find_game(BREAKTHROUGH).name == tengen.find_game(str(BREAKTHROUGH)).name == "breakthrough"
    with pytest.raises(UserError, match=r"no such game file: nowhere\.py"):
        tengen.find_game("nowhere.py")


def test_a_game_without_a_network_is_analysed_by_uct() -> None:
    analysis = tengen.analyse(
        tengen.Position.start("connect:rows=7,cols=7,k=5"), tengen.Limit(simulations=50)
    )
    assert analysis.best.action in range(7) and analysis.snapshot.search == "Uct"
    nearest = tengen.analyse(tengen.Position.start("gomoku11"), tengen.Limit(simulations=20))
    assert nearest.best.action in range(121) and nearest.snapshot.search == "Puct"


def test_a_notebook_shows_positions_analyses_and_matches() -> None:
    position = tengen.Position.from_moves("connect4", "4435")
    assert ElementTree.fromstring(position._repr_svg_()).tag.endswith("svg")
    analysis = tengen.analyse(position, tengen.Limit(simulations=20))
    assert analysis.best is not None
    shown = analysis._repr_html_()
    assert "<svg" in shown and "20 simulations" in shown and "visits" in analysis.snapshot._repr_html_()
    match = tengen.play_match("tictactoe", "uniform", "uniform", num_games=2, workers=1)
    assert "uniform against uniform" in match._repr_html_() and str(match) == match.to_text()


def test_play_takes_moves_from_a_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO("b2\nquit\n"))
    session = tengen.play("tictactoe", "uct:sims=50")
    assert session.position.moves[0] == "b2" and len(session.position.moves) == 2
    assert "uct:sims=50 plays" in capsys.readouterr().out
    with pytest.raises(UserError, match="your side is first or second, got 'third'"):
        tengen.play("tictactoe", side="third")


def test_training_yields_typed_generations_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = {
        "selfplay.games": 8, "selfplay.games_per_shard": 4, "selfplay.simulations": 4, "network.channels": 8,
        "network.blocks": 2, "measure.every": 1, "measure.games": 2, "learner.parts": 1, "selfplay.precision": "fp32",
    }  # fmt: skip
    training = tengen.train("tictactoe", generations=2, name="mine", settings=small, workers=1)
    assert training.spec == "zero:runs/mine" and training._repr_svg_() is None
    first = next(iter(training))
    assert first.number == 1 and first.losses.policy > 0 and first.selfplay.counts["games"] == 8
    assert [generation.number for generation in training] == [2], "it goes on where it was left"
    training.plot("curve.svg")
    assert ElementTree.parse("curve.svg").getroot().tag.endswith("svg") and training._repr_svg_()
    match = tengen.play_match("tictactoe", f"{training.spec}:sims=8", "uniform", num_games=2, workers=1)
    assert match.total.games == 2
    with pytest.raises(UserError, match="is a run already"):
        tengen.train("tictactoe", name="mine")
    with pytest.raises(UserError, match=r"did you mean network\.channels|did you mean channels"):
        tengen.train("tictactoe", name="other", settings={"network.chanels": 8})
