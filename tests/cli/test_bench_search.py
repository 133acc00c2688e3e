"""`tengen bench search`: its content, measured for a moment and without peers."""

import json

from tests.cli.test_commands import result

OPTIONS = ("--peers", "none", "--seconds", "0.02", "--rounds", "1")


def test_bench_search_measures_every_search_and_the_memory() -> None:
    found = json.loads(result("bench", "search", *OPTIONS, "--json"))
    searches = found["searches"]
    assert {row["search"].split()[0] for row in searches} == {"gumbel", "puct", "uct"}
    assert all(row["ours"] > 0 for row in searches)
    assert all(row["theirs"] is None and row["ratio"] is None for row in searches)
    assert {(row["search"], row["peer"], row["goal"]) for row in searches if row["goal"]} == {
        ("gumbel 32 × 256", "mctx + pgx", 4),
        ("puct 32 × 256", "mctx + pgx", 10),
        ("puct 32 × 256", "OpenSpiel, Python", 50),
        ("uct 2000, connect4", "OpenSpiel, C++", 4),
        ("uct 500, gomoku15", "OpenSpiel, C++", 3),
    }
    assert [row["search"] for row in found["openings"]] == ["the prior itself", "puct", "puct with noise"]
    plain, noisy = found["openings"][1:]
    assert noisy["entropy"] > plain["entropy"] + 1 and noisy["most_played"] < plain["most_played"]
    memory = found["memory"]
    assert [row["goal"] for row in memory] == [None, 256, 2048]
    assert all(0 < row["mebibytes"] <= (row["goal"] or 64) for row in memory)


def test_bench_search_prints_a_line_for_each_search() -> None:
    lines = result("bench", "search", *OPTIONS).splitlines()
    assert lines[0] == "simulations per second, one core; connect4 unless named"
    assert [line.split()[0] for line in lines[3:12]] == ["gumbel"] * 3 + ["puct"] * 6
    assert lines[-1].startswith("1 of gomoku15, 1,000,000 simulations")
