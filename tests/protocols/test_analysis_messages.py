"""Queries for an analysis: what is understood, and which field is blamed for the rest."""

import json
from typing import Any

import pytest

from tengen import api
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.protocols.analysis_messages import MessageError, read_query, snapshot_message


def test_a_query_is_a_position_and_a_limit() -> None:
    query = read_query({"game": "connect4", "moves": ["4", "4"], "limit": {"simulations": 50, "seconds": 2}})
    assert query.position == Position.from_moves("connect4", "44")
    assert query.limit == Limit(simulations=50, seconds=2)
    cells = [0] * 9
    cells[4] = 1
    set_up = read_query({"game": "tictactoe", "setup": {"cells": cells, "to_move": 2}, "moves": ["a1"]})
    assert set_up.position.to_move == 1 and set_up.limit == Limit()


def test_a_snapshot_is_plain_json() -> None:
    query = read_query({"game": "tictactoe", "limit": {"simulations": 20}})
    analysis = api.analyse(query.position, query.limit, "uct")
    assert analysis.best.action in range(9)
    message = snapshot_message(analysis.snapshot)
    assert json.loads(json.dumps(message)) == json.loads(json.dumps(analysis.snapshot.to_json()))
    assert "exact" not in snapshot_message(analysis.snapshot, [None, None])
    assert snapshot_message(analysis.snapshot, [None, 3])["exact"] == [None, 3]


@pytest.mark.parametrize(
    ("message", "field", "words"),
    [
        (None, None, "a query is an object with fields, got None"),
        ({"game": "tictactoe", "moov": []}, None, "unknown field 'moov'"),
        ({}, "game", "game is a name of 1 to 80 characters, got None"),
        ({"game": "tictacto"}, "game", "did you mean tictactoe?"),
        ({"game": "x" * 81}, "game", "1 to 80 characters"),
        ({"game": "tictactoe", "moves": "b2"}, "moves", "a list of moves as text"),
        ({"game": "tictactoe", "moves": [1]}, "moves", "a list of moves as text"),
        ({"game": "tictactoe", "moves": ["b2", "b2"]}, "moves", "there is a stone already"),
        ({"game": "tictactoe", "moves": ["b2"] * 1001}, "moves", "at most 1000 moves, got 1001"),
        ({"game": "tictactoe", "moves": ["b" * 17]}, "moves", "at most 16 characters"),
        ({"game": "tictactoe", "moves": ["a1", "a2", "b1", "b2", "c1"]}, "moves", "the game is over"),
        ({"game": "tictactoe", "setup": 3}, "setup", "setup is an object with fields, got 3"),
        ({"game": "tictactoe", "setup": {"cells": [0] * 8, "to_move": 1}}, "setup", "9 cells"),
        ({"game": "tictactoe", "setup": {"cells": [3] * 9, "to_move": 1}}, "setup", "a list of 0, 1 and 2"),
        ({"game": "tictactoe", "setup": {"cells": [True] * 9, "to_move": 1}}, "setup", "a list of 0, 1 and 2"),
        ({"game": "tictactoe", "setup": {"cells": [0] * 9, "to_move": 3}}, "setup", "to_move is 1 or 2, got 3"),
        ({"game": "tictactoe", "setup": {"cells": [0] * 9999, "to_move": 1}}, "setup", "at most 2500 numbers"),
        ({"game": "connect4", "setup": {"cells": [1] + [0] * 41, "to_move": 2}}, "setup", "nothing below it"),
        ({"game": "tictactoe", "limit": []}, "limit", "limit is an object with fields, got []"),
        ({"game": "tictactoe", "limit": {"hours": 1}}, "limit", "unknown field limit.'hours'"),
        ({"game": "tictactoe", "limit": {"seconds": "1"}}, "limit", "limit.seconds is a number, got '1'"),
        ({"game": "tictactoe", "limit": {"seconds": float("nan")}}, "limit", "a number, got nan"),
        ({"game": "tictactoe", "limit": {"seconds": 10**400}}, "limit", "at most 3600"),
        ({"game": "tictactoe", "limit": {"seconds": -1}}, "limit", "from 0 up, got -1"),
        ({"game": "tictactoe", "limit": {"simulations": 1.5}}, "limit", "a whole number, got 1.5"),
        ({"game": "tictactoe", "limit": {"simulations": 0}}, "limit", "1 or more, got 0"),
        ({"game": "tictactoe", "limit": {"depth": True}}, "limit", "a whole number, got True"),
    ],
)  # fmt: skip
def test_an_error_names_the_field(message: Any, field: str | None, words: str) -> None:
    with pytest.raises(MessageError) as error:
        read_query(message)
    assert error.value.field == field and words in str(error.value) and "\n" not in str(error.value)
    assert error.value.to_json() == {"message": str(error.value), "field": field}
