"""`tengen bench learner`: its content, measured for a moment."""

import json

from tests.cli.test_commands import result


def test_bench_learner_measures_both_ways_alone_and_beside_others() -> None:
    rows = json.loads(result("bench", "learner", "tictactoe", "--steps", "2", "--rounds", "1", "--json"))
    found = [(row["how"], row["busy_programs"]) for row in rows]
    assert found == [("2 processes", 0), ("2 threads", 0), ("2 processes", 2), ("2 threads", 2)]
    assert all(0 < row["least"] <= row["milliseconds"] <= row["most"] for row in rows)
