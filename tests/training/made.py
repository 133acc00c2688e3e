"""Run folders made by hand: as a run leaves them, without the time it takes."""

from pathlib import Path
from typing import Any

from tengen.evaluators.card import Card
from tengen.training.config import Config
from tengen.training.config_files import from_toml
from tengen.training.run import Run


def made_run(folder: Path, generations: int, *settings: str) -> Run:
    """A run of Connect 4 with so many generations, a minute each; every second one is measured.

    Settings are `section.key = value` over the defaults of the code.
    """
    run = Run.create(folder, from_toml("\n".join(settings), Config("connect4"), "made.toml"))
    for generation in range(1, generations + 1):
        add_generation(run, generation)
    return run


def add_generation(run: Run, generation: int) -> None:
    run.log(metrics_of(generation))
    run.checkpoint(generation).mkdir(parents=True)
    card = Card(
        "connect4", {"name": "anysize", "channels": 48, "blocks": 5}, (0, 1), generation, 0.97, "int8"
    )
    (run.checkpoint(generation) / "card.json").write_text(card.to_text())


def metrics_of(generation: int) -> dict[str, Any]:
    rate = generation / (generation + 2)
    strength = {
        "sims=64": {"good": {"rate": rate, "low": rate - 0.1, "high": rate + 0.1, "n": 300}},
        "uct:sims=200": {"wins": 5, "draws": 2, "losses": 3, "score": 0.6, "elo": 70.4},
    }
    return {
        "generation": generation,
        "elapsed": 60.0 * generation,
        "selfplay": {
            "games": 100, "moves": 1000, "simulations": 40_000, "first_wins": 55, "draws": 5, "positions": 500,
            "hit_rate": 0.25, "entropy": 1.5, "seconds": 20.0,
        },
        "learner": {"policy": 2 / generation, "value": 0.5 / generation, "plies_left": 0.1, "steps": 3, "seconds": 9.0},
        "replay": {"window": 400 * generation, "total": 500 * generation},
        "gate": {"champion": generation, "rollouts": 0, "record": 0.0},
        "strength": strength if generation % 2 == 0 else {},
    }  # fmt: skip
