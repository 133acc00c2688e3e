"""`tengen bench selfplay`: what its figures are made of, and that it shows them; without peers, in moments."""

import json
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch.nn import functional
from typer.testing import CliRunner

from tengen import games, nets
from tengen.bench import residual
from tengen.bench import selfplay as bench
from tengen.bench.peer import Peer
from tengen.bench.selfplay import Effort, Measured
from tengen.bench.selfplay_goals import GOALS, AlphaZeroGomokuRate, Scaling, SelfPlayRate, targets
from tengen.bench.selfplay_networks import Candidate, plain_network, trained_network
from tengen.cli.bench import app
from tengen.errors import UserError
from tengen.evaluators.card import Card, hash_of
from tengen.evaluators.samples import random_planes
from tengen.evaluators.session import new_session
from tengen.nets.describe import describe
from tengen.nets.export import to_onnx

QUICK = Effort(rounds=1, seconds=0.02, games=6)
TINY = ("--channels", "4", "--blocks", "1", "--rounds", "1", "--seconds", "0.02", "--games", "4")


@pytest.fixture(scope="module")
def tiny() -> Candidate:
    return plain_network(channels=4, blocks=2)


# ---- the network that both sides have


def test_the_plain_network_is_a_residual_network() -> None:
    """Its ONNX says what the same weights say in PyTorch, layer by layer."""
    game = games.find("connect4")
    weights = residual.random_weights(game, channels=8, blocks=3)
    planes = random_planes(game, 256)[:, residual.PLANES]  # of a dozen games
    logits, value = new_session(residual.to_onnx(game, weights)).run(None, {"planes": planes})
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}

    def conv(name: str, x: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(x, tensors[f"{name}.weight"], tensors[f"{name}.bias"], padding="same")

    def linear(name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    x = conv("first", torch.from_numpy(planes)).relu()
    for block in range(3):
        x = (x + conv(f"block{block}.b", conv(f"block{block}.a", x).relu())).relu()
    policy = linear("policy.out", conv("policy.filter", x).relu().flatten(1))
    hidden = linear("value.hidden", conv("value.filter", x).relu().flatten(1)).relu()
    assert np.allclose(logits, policy, atol=1e-4)
    assert np.allclose(value, linear("value.out", hidden).tanh().squeeze(1), atol=1e-4)
    assert logits.std(axis=0).min() > 0.01 and value.std() > 0.01  # it distinguishes positions


def test_multiply_adds_of_an_export_are_those_of_its_network() -> None:
    game = games.find("connect4")
    for name in ("anysize", "connect4"):
        net = nets.make(name, game).eval()
        planes = random_planes(game, 4)
        assert residual.multiply_adds(to_onnx(net, planes), game) == describe(net, planes).multiply_adds
    cells, channels = 42, 64
    weights = residual.random_weights(game, channels, blocks=4)
    trunk = cells * 9 * (2 * channels + 8 * channels**2)
    heads = cells * channels * 3 + 2 * cells * 7 + cells * 64 + 64
    assert residual.multiply_adds(residual.to_onnx(game, weights), game) == trunk + heads


# ---- what is measured


def test_a_way_to_play_is_measured_whole(tiny: Candidate) -> None:
    game, settings = games.find("connect4"), bench._settings(tiny, QUICK)
    for precision, is_cached in (("fp32", False), ("int8", True)):
        way = bench.Way(game, tiny, precision, is_cached, settings, num_games=6)  # type: ignore[arg-type]
        found = way.measure(seed=1, seconds=0.02, peer=500.0)
        assert way.measured == [found] and found.games == 6 and found.moves >= 6 * 7
        assert 20 * found.moves < found.simulations <= 32 * found.moves  # fewer where a result was proven
        assert 0 < found.network_seconds < found.seconds
        assert found.loop > 0 and found.peer == 500.0
        assert (found.hit_rate is not None and 0.05 < found.hit_rate < 1) == is_cached


def test_the_stopwatch_runs_only_inside_the_network(tiny: Candidate) -> None:
    game = games.find("connect4")
    evaluator = bench.TimedEvaluator(game, tiny.network(game, "fp32"))
    states, legal = np.stack([game.new_state()] * 5), np.ones((5, 7), np.bool_)
    plain = tiny.network(game, "fp32").direct(game).evaluate(states, legal)
    for _ in range(50):
        timed = evaluator.evaluate(states, legal)
    assert np.array_equal(timed.logits, plain.logits)
    assert evaluator.session.seconds > 0 and evaluator.session.largest_batch == 5


class FakePeer:
    """Fastest with 64 games at once; one game in 20 moves ends."""

    def __init__(self, network: Candidate, error: float = 0.0) -> None:
        game = games.find("connect4")
        state = game.new_state()
        for column in bench.CHECKED:
            state = game.after(state, column)
        evaluator = network.network(game, "fp32").direct(game)
        self.opinion = evaluator.evaluate(state[None], game.legal_mask(state)[None])
        self.error, self.asked = error, list[dict[str, Any]]()

    def ask(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        weights = np.load(request["weights"])
        assert weights["first.weight"].shape == (4, 2, 3, 3) and request["position"] == bench.CHECKED
        moves = request["moves"] * request["batch"]
        rate = {32: 900, 64: 1_000, 128: 950, 256: 800}[request["batch"]]
        return {
            "seconds": 32 * moves / rate,
            "games": moves // 20,
            "logits": (self.opinion.logits[0] + self.error).tolist(),
            "value": float(self.opinion.values[0]),
        }


def test_the_peer_plays_in_batches_that_suit_it(tiny: Candidate, tmp_path: Path) -> None:
    peer = FakePeer(tiny)
    playing = bench.PeerGames(cast(Peer, peer), tiny, tmp_path, seconds=10.0, show=lambda _: None)
    assert playing.measure() == pytest.approx(1_000)
    assert peer.asked[-1]["batch"] == 64 and peer.asked[-1]["moves"] == 5  # 10 s of 1000 ÷ (64 · 32)
    assert playing.measured == [Measured(16, 320, 10_240, seconds=10.24)]
    with pytest.raises(AssertionError, match="the peer has another network"):
        bench.PeerGames(cast(Peer, FakePeer(tiny, error=0.1)), tiny, tmp_path, 10.0, lambda _: None)


def test_two_processes_are_compared_with_one(tiny: Candidate) -> None:
    shown: list[str] = []
    found = bench.scale(tiny, QUICK, shown.append)
    assert found.ratio == found.one_seconds / found.two_seconds and 0 < found.core_share < 1.1
    one, two = found.one_seconds, found.two_seconds
    assert shown == [f"round 1 of 1: one process {one:.1f} s, two {two:.1f} s"]


def test_the_gomoku_part_is_alphazero_gomoku(monkeypatch: pytest.MonkeyPatch) -> None:
    board = games.find(bench.ALPHAZERO_GOMOKU)
    assert (board.rows, board.cols, board.num_actions) == (8, 8, 64) and 5 in board.header
    monkeypatch.setattr(bench, "ALPHAZERO_GOMOKU", "connect4")  # compiled already
    monkeypatch.setattr(bench, "ALPHAZERO_GOMOKU_SIMULATIONS", 5)
    plain, cached = bench.alphazero_gomoku(Effort(rounds=1, seconds=0.02, games=12), lambda _: None)
    assert (plain.who, cached.who) == ("fp32", "int8, cache")
    for rate in (plain, cached):
        assert rate.times_peer == pytest.approx(rate.games_per_minute / 4.8)
        assert rate.times_peer_simulations == pytest.approx(rate.simulations_per_second / 950)
        assert 7 <= rate.moves_per_game <= 42
        a_game = 60 * rate.simulations_per_second / rate.games_per_minute
        assert 0.8 * rate.moves_per_game * 5 < a_game <= rate.moves_per_game * 5 * 1.000001
    assert plain.hit_rate is None and cached.hit_rate is not None


# ---- what is made of it


def test_rates_are_medians_and_ratios_those_of_neighbours() -> None:
    rounds = [
        Measured(10, 300, 9_000, seconds=3.0, network_seconds=2.7, hit_rate=0.4, loop=2_000, peer=1_000),
        Measured(10, 310, 9_300, seconds=1.0, network_seconds=0.6, hit_rate=0.5, loop=6_200, peer=4_650),
        Measured(10, 320, 9_600, seconds=2.0, network_seconds=1.6, hit_rate=0.6, loop=3_200, peer=2_000),
    ]
    rate = bench._rate("int8, cache", rounds)
    assert rate.simulations_per_second == 4_800  # of 3000, 9300, 4800
    assert rate.games_per_second == pytest.approx(4_800 * 30 / 27_900)  # a game is 930 simulations
    assert rate.moves_per_game == 31
    assert rate.times_peer == pytest.approx(median([3, 2, 2.4]))
    assert rate.network_share == pytest.approx(0.8)
    assert rate.hit_rate == 0.5
    assert rate.loop_per_second == 3_200 and rate.times_loop == pytest.approx(1.5)
    peer = bench._rate(bench.PEER, [Measured(3, 100, 3_200, seconds=2.0)])
    assert peer.simulations_per_second == 1_600 and peer.games_per_second == 1.5
    assert peer.network_share is peer.times_peer is peer.times_loop is peer.hit_rate is None


RATES = [
    SelfPlayRate("mctx + pgx", 2_000, 4.0, 16.5),
    SelfPlayRate("fp32", 3_000, 6.0, 15.5, 1.51, 0.97, None, 3_100, 0.96),
    SelfPlayRate("int8", 5_000, 10.0, 15.6, 2.52, 0.84, None, 5_700, 0.88),
    SelfPlayRate("fp32, cache", 6_000, 12.0, 15.7, 3.03, 0.90, 0.48, 3_200, 1.87),
    SelfPlayRate("int8, cache", 9_000, 18.0, 15.8, 4.54, 0.93, 0.47, 6_100, 1.48),
]
SCALING = Scaling(one_seconds=40.0, two_seconds=21.5, ratio=1.86, core_share=0.99)
GOMOKU = [
    AlphaZeroGomokuRate("fp32", 28.4, 5.92, 6_360, 6.69, 34.9, 0.953, None),
    AlphaZeroGomokuRate("int8, cache", 52.4, 10.92, 11_703, 12.32, 34.8, 0.923, 0.067),
]


def test_a_target_is_reached_at_what_was_asked() -> None:
    found = {target.what: target for target in targets(RATES, SCALING, GOMOKU)}
    assert len(found) == 13
    missed = {what for what, target in found.items() if not target.is_reached}
    assert missed == {
        "int8: simulations per second, times the peer's",  # 2.52 of 3
        "int8, cache: simulations per second, times the peer's",  # 4.54 of 5
        "int8: share of the time inside the network",  # 84 of 85 %
        "int8: simulations per evaluation of an empty loop",  # 0.88 of 0.9
        "int8, cache: simulations per evaluation of an empty loop",  # 1.48 of 1.5
    }
    assert all(target.is_reached == (target.value >= target.goal) for target in found.values())
    assert targets([], None, []) == []


# ---- what is shown


def test_the_table_shows_what_the_json_has(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {"compare": RATES, "scale": SCALING, "alphazero_gomoku": GOMOKU}
    for name, answer in made.items():
        monkeypatch.setattr(bench, name, lambda *_, answer=answer: answer)
    options = ["selfplay", "--peers", "none", *TINY]
    found = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)
    lines = CliRunner().invoke(app, options).stdout.splitlines()

    assert found["network"] == found["peer_network"] and found["network"]["name"] == "residual 4 × 1"
    assert lines[1] == "network: residual 4 × 1, 0.0M multiply-adds per position"
    table = {line[:12].strip(): line for line in lines[4:9]}
    assert set(table) == {row["who"] for row in found["selfplay"]}
    asked = {"fp32": (90, 0.9), "int8": (85, 0.9), "fp32, cache": (90, 1.5), "int8, cache": (85, 1.5)}
    for row in found["selfplay"]:
        line = table[row["who"]]
        figures = [f"{row['simulations_per_second']:,.0f}", f"{row['games_per_second']:.2f}"]
        if row["who"] in asked:
            share, times_loop = asked[row["who"]]
            figures += [f"{row['times_peer']:.2f}", f"{100 * row['network_share']:.1f} % (≥ {share} %)"]
            figures += [f"{row['loop_per_second']:,.0f}", f"{row['times_loop']:.2f} (≥ {times_loop})"]
        if row["hit_rate"] is not None:
            figures.append(f"{100 * row['hit_rate']:.1f} %")
        places = [line.index(figure) for figure in figures]
        assert places == sorted(places)
    assert found["scaling"]["ratio"] == 1.86
    assert lines[10] == "two shards, one process 40.0 s, two 21.5 s: 1.86 ×  (≥ 1.8 ×)"
    for row in found["alphazero-gomoku"]:
        line = next(line for line in lines[12:] if line.startswith(row["who"] + "  "))
        for figure in ("games_per_minute", "times_peer", "times_peer_simulations", "moves_per_game"):
            assert f" {row[figure]:.1f}" in line
        assert f"{row['simulations_per_second']:,}" in line and f"{100 * row['network_share']:.1f} %" in line
    verdicts = lines[-13:]
    for target, line in zip(found["targets"], verdicts, strict=True):
        assert line.startswith("reached " if target["is_reached"] else "missed ") and target["what"] in line
        assert line.endswith(f"{target['value']:.2f}  (≥ {target['goal']:.2f})")


def test_a_busy_machine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Scaling(one_seconds=40.0, two_seconds=38.0, ratio=1.05, core_share=0.61)
    monkeypatch.setattr(bench, "scale", lambda *_: busy)
    shown = CliRunner().invoke(app, ["selfplay", "--part", "scaling", *TINY]).stdout
    assert "the machine was busy: each process had 61.0 % of a core" in shown


def test_bench_selfplay_measures_four_ways_without_peers() -> None:
    shown = CliRunner().invoke(app, ["selfplay", "--part", "peers", "--peers", "none", *TINY, "--json"])
    found = json.loads(shown.stdout)
    assert [row["who"] for row in found["selfplay"]] == ["fp32", "int8", "fp32, cache", "int8, cache"]
    assert all(row["times_peer"] is None and 0 < row["network_share"] < 1 for row in found["selfplay"])
    assert found["scaling"] is None and found["alphazero-gomoku"] == [] and len(found["targets"]) == 8
    for who, line in zip(GOALS, shown.stderr.splitlines()[1:], strict=True):
        assert line.startswith(f"round 1 of 1: {who} ")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no network in nowhere"):
        trained_network("nowhere")
    card = Card("tictactoe", {"name": "anysize"}, (0, 1), 3, discount=1.0, precision="fp32")
    (tmp_path / "card.json").write_text(card.to_text())
    with pytest.raises(UserError, match=r"expected a network for connect4, the one in .* plays tictactoe"):
        trained_network(str(tmp_path))
    failed = CliRunner().invoke(app, ["selfplay", "--peers", "nowhere", "--part", "peers", *TINY])
    assert str(failed.exception) == "no peers in nowhere: run `make peers` first, or pass --peers none"


def test_a_trained_network_keeps_what_its_card_says(tmp_path: Path) -> None:
    game = games.find("connect4")
    net = nets.make("anysize", game, {"channels": 4, "blocks": 1})
    data = to_onnx(net, random_planes(game, 8))
    hashes = {"fp32": hash_of(data)}  # no int8: that is made anew
    card = Card("connect4", {"name": "anysize"}, net.planes, 7, 0.9, "fp32", c_scale=0.3, hashes=hashes)
    (tmp_path / "card.json").write_text(card.to_text())
    (tmp_path / "net.onnx").write_bytes(data)
    network = trained_network(str(tmp_path))
    assert network.data["fp32"] == data and network.planes == (0, 1, 3)
    assert (network.discount, network.c_scale) == (0.9, 0.3)
    assert network.multiply_adds == residual.multiply_adds(
        data, games.find("connect4")
    ) and network.name.endswith("generation 7")
    settings = bench._settings(network, Effort(1, 1.0, 10, opening_plies=5))
    assert (settings.discount, settings.c_scale, settings.random_opening_plies) == (0.9, 0.3, 5)
    assert settings.full_share == 1
