"""The bundled networks: they are small, whole, as strong as their cards say, and play every size."""

import pytest

from tengen import games, players
from tengen.arena import reference
from tengen.evaluators.card import FILES, read_card, read_onnx
from tengen.evaluators.zoo import ZOO, bundled, game_of
from tengen.games.position import Position
from tengen.workers.local import LocalWorkers

NAMES = bundled()
LARGEST = 5_000_000  # bytes: 64 channels and 6 blocks, what a night trains


def test_there_are_some() -> None:
    assert "connect4" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_network_is_whole(name: str) -> None:
    card, folder = read_card(ZOO / name), ZOO / name
    assert card.game == name.removesuffix("-small") and card.generation > 0
    assert sum(file.stat().st_size for file in folder.iterdir()) <= LARGEST
    for precision in FILES:
        assert precision not in card.hashes or read_onnx(folder, card, precision)
    assert card.strength and card.training["minutes"] > 0, "it says how it was made, and what came of it"


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_network_beats_one_who_knows_nothing(name: str) -> None:
    game = games.find(game_of(name))
    with players.find(f"zero:zoo/{name}:sims=32", game) as one, players.find("uniform", game) as other:
        position = Position.start(game)
        other.new_game(1)
        while not position.is_over:
            player = one if position.to_move == 1 else other
            position = position.play(player.choose(position).action)
    assert position.winner == 1


def test_connect4_is_as_strong_as_its_card_says() -> None:
    """The network alone, on the positions that its card's figure is of."""
    said = read_card(ZOO / "connect4").strength["alone"]
    positions = reference.read(reference.OWN_SET)[: said["perfect"]["n"]]
    with LocalWorkers(1) as run_tasks:
        score = reference.score(reference.ask("zero:zoo/connect4:sims=1", positions, run_tasks))
    for measured, card in ((score.perfect, said["perfect"]), (score.good, said["good"])):
        assert abs(measured.rate - card["rate"]) <= 0.02, "int8 and fp32 differ in a few positions"
