"""`tengen bench cluster`: its content, measured for a moment on a real cluster of this machine."""

import json

import pytest

from tests.cli.test_commands import result


@pytest.mark.slow
def test_bench_cluster_measures_and_simulates() -> None:
    options = ("--games", "8", "--workers", "1", "--cores", "3", "--rounds", "1", "--step", "2", "--json")
    found = json.loads(result("bench", "cluster", "tictactoe", *options))
    sizes, (measured,) = found["sizes"], found["measured"]
    assert sizes["games"] == 8 and 10 < sizes["positions"] < 80
    assert 50 < sizes["bytes_per_position"] < 500 and sizes["network_bytes"] > 10_000
    assert measured["workers"] == 1 and measured["ratio"] == pytest.approx(
        measured["ray"] / measured["local"]
    )
    assert 0 < measured["whole"] < measured["ray"] * measured["positions_per_game"]
    assert [(row["cores"], row["overlap"]) for row in found["simulated"]] == [(3, 0), (3, 1)]
    assert all(0.5 < row["games"] / row["modelled"] < 1.1 for row in found["simulated"])
