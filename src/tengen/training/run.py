"""A run is a folder. Every file is there whole or not at all, so it can be killed at any moment and go on.

    config.toml                        every setting
    metrics.jsonl                      a line for each generation, written just before its card
    replay/0007/shard-000.safetensors  the games of generation 7
    checkpoints/0007/                  what was learned from them; 0000 is random
        weights.safetensors            to go on learning (kept for the last two and the champion)
        net.onnx int8.onnx card.json   to play
        gate.json                      who is champion now
    games/0007.txt                     one of them, to look at
    best/                              a copy of the champion's files to play

Generation g + 1 plays with checkpoint g and learns to become checkpoint g + 1, whose card is written last:
the highest card says where the run stands.
"""

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tengen import files
from tengen.errors import UserError
from tengen.evaluators.card import FILES, Card, read_card, read_network
from tengen.games.game import Game
from tengen.players.zero import Zero
from tengen.training.config import Config, from_toml, to_toml

WEIGHTS = "weights.safetensors"
PARTS = {"generation", "elapsed", "selfplay", "learner", "replay", "strength"}  # of a line of metrics
KEPT_WEIGHTS = 2  # the newest checkpoints that can be learned on from


class Run:
    """Where the files of a run are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, config: Config) -> "Run":
        """A new run; UserError if there is one already."""
        if (folder / "config.toml").exists():
            raise UserError(
                f"{folder} is a run already: tengen train --resume {folder.name}, or another name"
            )
        try:
            (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make {folder}: {error.strerror}") from error
        run = cls(folder)
        run.configure(config)
        return run

    @classmethod
    def open(cls, folder: Path) -> "Run":
        if not (folder / "config.toml").is_file():
            raise UserError(f"no run in {folder}: tengen runs lists those there are")
        return cls(folder)

    @property
    def config(self) -> Config:
        text = files.read_bytes(self.folder / "config.toml").decode("utf-8", "replace")
        return from_toml(text, Config(""), "config.toml")

    def configure(self, config: Config) -> None:
        """Keeps the settings."""
        files.write_text(self.folder / "config.toml", to_toml(config))

    def checkpoint(self, generation: int) -> Path:
        return self.folder / "checkpoints" / f"{generation:04}"

    def shard(self, generation: int, number: int) -> Path:
        return self.folder / "replay" / f"{generation:04}" / f"shard-{number:03}.safetensors"

    @property
    def generation(self) -> int:
        """The last complete checkpoint, -1 if there is none."""
        cards = (self.folder / "checkpoints").glob("[0-9]*/card.json")
        return max((int(card.parent.name) for card in cards), default=-1)

    def save_checkpoint(self, generation: int, networks: dict[str, bytes], card: Card, champion: int) -> None:
        """The files to play, the card last. Then a new champion takes its place, and older weights go."""
        folder = self.checkpoint(generation)
        for precision, data in networks.items():
            files.write_bytes(folder / FILES[precision], data)
        files.write_text(folder / "card.json", card.to_text())
        if champion == generation:
            self.promote(generation, card)
        for old in range(generation - KEPT_WEIGHTS + 1):
            if old != champion:
                (self.checkpoint(old) / WEIGHTS).unlink(missing_ok=True)

    def save_sample(self, generation: int, game: str) -> None:
        """A game of the generation, to look at."""
        (self.folder / "games").mkdir(exist_ok=True)
        files.write_text(self.folder / "games" / f"{generation:04}.txt", game)

    def player(self, generation: int, game: Game, sims: int) -> Zero:
        """The network of a checkpoint, with a search."""
        folder = self.checkpoint(generation)
        return Zero.of(game, read_network(folder), read_card(folder), sims)

    def promote(self, generation: int, card: Card) -> None:
        """Makes a checkpoint the one that plays for the run: a new folder takes the old one's place."""
        new = self.folder / ".best"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        for file in self.checkpoint(generation).glob("*.onnx"):
            files.write_bytes(new / file.name, files.read_bytes(file))
        files.write_bytes(new / WEIGHTS, files.read_bytes(self.checkpoint(generation) / WEIGHTS))
        files.write_text(new / "card.json", card.to_text())
        old = self.folder / ".old"
        shutil.rmtree(old, ignore_errors=True)
        if (self.folder / "best").exists():
            os.replace(self.folder / "best", old)
        os.replace(new, self.folder / "best")
        shutil.rmtree(old, ignore_errors=True)

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of the complete generations."""
        path = self.folder / "metrics.jsonl"
        if not path.exists():
            return []
        try:
            lines = [json.loads(line) for line in files.read_bytes(path).decode("utf-8").splitlines()]
            for number, line in enumerate(lines, start=1):
                if missing := PARTS - line.keys():
                    raise ValueError(f"line {number} has no {', '.join(sorted(missing))}")
            complete = self.generation
            return [line for line in lines if line["generation"] <= complete]
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(f"{path} is damaged: {error}") from None

    @property
    def elapsed(self) -> float:
        """Seconds of work in the complete generations, all commands together."""
        lines = self.metrics()
        return float(lines[-1]["elapsed"]) if lines else 0.0

    @property
    def is_finished(self) -> bool:
        lines = [0.0, *(float(line["elapsed"]) for line in self.metrics())]
        pace = lines[-1] - lines[-2] if len(lines) > 1 else 0.0
        return self.config.length.is_over(max(0, self.generation), lines[-1], pace)

    def log(self, metrics: dict[str, Any]) -> None:
        """Adds the line of a generation; one that was never completed makes room."""
        lines = [json.dumps(line, ensure_ascii=False) for line in [*self.metrics(), metrics]]
        files.write_text(self.folder / "metrics.jsonl", "\n".join(lines) + "\n")


def arguments_of(config: Config) -> dict[str, Any]:
    """Of the network, as nets.make wants them."""
    return {key: value for key, value in settings_of(config).items() if key != "name"}


def settings_of(config: Config) -> dict[str, Any]:
    """For a card."""
    network: dict[str, Any] = asdict(config.network)
    del network["start"]
    if config.network.name != "anysize":
        return {"name": network["name"]}
    return network | ({"discount": config.selfplay.discount} if config.network.value == "wdl" else {})
