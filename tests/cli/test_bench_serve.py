"""`tengen bench serve`: a small crowd at a real server."""

import json

from tests.cli.conftest import Here


def test_a_crowd_plays_and_nobody_meets_an_error(here: Here) -> None:
    options = ["--game", "tictactoe", "--level", "2", "--people", "3", "--idle", "4", "--seconds", "1"]
    found = json.loads(here.result("bench", "serve", *options, "--json"))
    assert (found["people"], found["idle"], found["errors"]) == (3, 4, 0)
    assert found["replies"] > found["games"] > 0
    assert 0 < found["median"] <= found["p95"] <= found["longest"] < 60
    shown = here.result("bench", "serve", *options)
    assert "3 people play tictactoe at level 2" in shown and "errors 0" in shown


def test_an_unknown_game_is_refused(here: Here) -> None:
    code, _, errors = here("bench", "serve", "--game", "gomku9")
    assert code == 2 and "did you mean" in errors
