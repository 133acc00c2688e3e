"""A run is a folder. Every file is written completely or not at all, so a run can be killed at any moment and
resumed.

    config.toml                        all settings, and when which of them changed
    metrics.jsonl                      a line per generation, written just before its card
    replay/0007/shard-000.safetensors  the games of generation 7, and their statistics
    replay/0007/fresh-000.safetensors  new targets of older positions, if it reanalysed some
    checkpoints/0007/                  the network that learned from them; 0000 has random weights
        weights.safetensors            to continue learning (kept for the last two and those that play)
        net.onnx int8.onnx card.json   to play
        gate.json                      which network is the champion now
        manifest.json                  hashes of these files, and the line of metrics
    games/0007.txt                     one of these games as text
    best/                              a copy of the champion's files to play
    teacher/                           the network that plays the first generations, if there is one
    .lock                              keeps a second process from training the same run

Generation g + 1 plays with checkpoint g (with an overlap: g - 1) and learns to become checkpoint g + 1, whose
card is written last: the card with the highest number is the last complete generation.
"""

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen import files, sealed
from tengen.command_line import command
from tengen.errors import UserError
from tengen.evaluators.card import WEIGHTS, read_card
from tengen.training import changes, manifest
from tengen.training.checkpoint import Checkpoint
from tengen.training.checkpoint import read as read_checkpoint
from tengen.training.checkpoint import write as write_checkpoint
from tengen.training.config import Config
from tengen.training.config_files import earlier, from_dict, from_toml, is_complete, to_toml

if TYPE_CHECKING:
    from tengen.training.generation import Generation

EDITING = "# Do not edit: change a setting with tengen train --resume NAME --set section.key=value"
PARTS = {"generation", "elapsed", "selfplay", "learner", "replay", "strength"}  # of a line of metrics
KEPT_WEIGHTS = 2  # number of newest checkpoints that keep the weights to continue learning


class Run:
    """The files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, config: Config) -> "Run":
        """A new run; UserError if there is one already. The settings are checked by checks.py, not here."""
        cls.refuse_if_there(folder)
        try:
            (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot create {folder}: {error.strerror}") from error
        run = cls(folder)
        run.configure(config)
        return run

    @staticmethod
    def refuse_if_there(folder: Path) -> None:
        """UserError if the folder is a run already."""
        if (folder / "config.toml").exists():
            resume = command("train", "--resume", folder.name)
            raise UserError(f"{folder} is a run already: {resume} continues it, or choose another name")

    @classmethod
    def open(cls, folder: Path) -> "Run":
        """An existing run. If config.toml is lost, the settings are taken from the newest card."""
        run = cls(folder)
        if (folder / "config.toml").is_file():
            return run
        if run.generation < 0:
            raise UserError(f"no run in {folder}: {command('runs')} lists all runs")
        settings = read_card(run.checkpoint(run.generation)).training.get("config")
        if settings is None:
            raise UserError(f"{folder / 'config.toml'} is missing: restore it from a copy if you have one")
        run.configure(from_dict(settings))
        return run

    @property
    def config(self) -> Config:
        path = self.folder / "config.toml"
        data = files.read_bytes(path)
        advice = "remove it, and it is made again from the newest checkpoint"
        edit = command("train", "--resume", self.folder.name, "--set", "SECTION.KEY=VALUE")
        sealed.check(path, data, f"{advice}; {edit} changes a setting")
        config = from_toml(text := data.decode("utf-8", "replace"), earlier(), "config.toml")
        if not sealed.is_sealed(data) and not is_complete(text):  # from an older version, or cut short
            raise UserError(f"{path} is cut short: {advice}")
        return config

    def configure(self, config: Config) -> None:
        """Writes the settings to config.toml."""
        game, rest = to_toml(config).split("\n", 1)
        text = f'{game}\n{EDITING}\n# sha256 = "{sealed.BLANK}"\n{rest}'  # near the top: a cut file keeps it
        files.write_bytes(self.folder / "config.toml", sealed.seal(text.encode("utf-8")))

    def reconfigure(self, config: Config) -> None:
        """Changes the settings, starting with the next generation. Games that were played for it, or ahead of
        it, with the old settings are removed."""
        if changes.changes_games(self.config, config):
            for shard in (self.folder / "replay").glob("[0-9]*/*"):
                if int(shard.parent.name) > self.generation:
                    shard.unlink()
        self.configure(config)

    def checkpoint(self, generation: int) -> Path:
        return self.folder / "checkpoints" / f"{generation:04}"

    def shard(self, generation: int, number: int) -> Path:
        return self.folder / "replay" / f"{generation:04}" / f"shard-{number:03}.safetensors"

    def fresh_targets(self, generation: int, number: int) -> Path:
        return self.folder / "replay" / f"{generation:04}" / f"fresh-{number:03}.safetensors"

    @property
    def generation(self) -> int:
        """The number of the last complete checkpoint, -1 if there is none."""
        cards = (self.folder / "checkpoints").glob("[0-9]*/card.json")
        return max((int(card.parent.name) for card in cards), default=-1)

    def record(self, generation: "Generation", checkpoint: Checkpoint, plays_next: int) -> None:
        """Completes a generation: writes its line of metrics and its files, the card last. `plays_next`: the
        network that plays the next generation."""
        line, standing = generation.to_line(), generation.standing
        self.log(line)
        self.save_checkpoint(checkpoint, standing.champion, line, standing.to_text(), plays_next)

    def save_checkpoint(
        self,
        checkpoint: Checkpoint,
        champion: int,
        metrics: dict[str, Any] | None = None,
        gate: str | None = None,
        plays_next: int | None = None,
    ) -> None:
        """Writes all files of a generation, the card last. A new champion is copied to best/ before the card.
        Then old weights are removed, except those of the champion and of the network that plays next."""
        generation = checkpoint.card.generation
        folder = self.checkpoint(generation)
        folder.mkdir(parents=True, exist_ok=True)
        # Weights are not in the manifest: they have their own hash, and old ones are removed.
        contents = {name: data for name, data in checkpoint.contents().items() if name != WEIGHTS}
        if gate is not None:
            contents[manifest.GATE] = gate.encode("utf-8")
            files.write_text(folder / manifest.GATE, gate)
        manifest.write(folder, metrics, contents)
        if champion == generation:  # before the card: if killed here, the generation is made again
            self.promote(checkpoint)
        write_checkpoint(folder, checkpoint)
        for old in range(generation - KEPT_WEIGHTS + 1):
            if old not in (champion, plays_next):
                (self.checkpoint(old) / WEIGHTS).unlink(missing_ok=True)

    def load_checkpoint(self, generation: int) -> Checkpoint:
        """The checkpoint; UserError if a file of it is damaged or missing. Weights may be missing."""
        folder = self.checkpoint(generation)
        manifest.check(folder)
        return read_checkpoint(folder)

    def save_teacher(self, teacher: Checkpoint) -> None:
        """Keeps a copy of the teacher: the network it comes from may change or disappear."""
        write_checkpoint(self.folder / "teacher", teacher)

    def load_teacher(self) -> Checkpoint:
        return read_checkpoint(self.folder / "teacher")

    def checked_weights(self, generation: int) -> Path:
        """The path of a checkpoint's weights; UserError if they or its other files are damaged or missing."""
        folder = self.checkpoint(generation)
        path = folder / WEIGHTS
        manifest.check(folder)
        if not path.is_file():
            raise UserError(f"{path} is missing: {manifest.advice(folder)}")
        sealed.check(path, files.read_bytes(path), manifest.advice(folder))
        return path

    def save_sample(self, generation: int, game: str) -> None:
        """Writes a game of the generation as text."""
        (self.folder / "games").mkdir(exist_ok=True)
        files.write_text(self.folder / "games" / f"{generation:04}.txt", game)

    def promote(self, checkpoint: Checkpoint) -> None:
        """Makes a checkpoint the champion: replaces the folder best/ by a copy of its files."""
        new, old = self.folder / ".best", self.folder / ".old"
        shutil.rmtree(new, ignore_errors=True)
        write_checkpoint(new, checkpoint)
        shutil.rmtree(old, ignore_errors=True)
        if (self.folder / "best").exists():
            os.replace(self.folder / "best", old)
        os.replace(new, self.folder / "best")
        shutil.rmtree(old, ignore_errors=True)

    def metrics(self) -> list[dict[str, Any]]:
        """The lines of metrics of the complete generations; from the checkpoints if metrics.jsonl is lost."""
        path = self.folder / "metrics.jsonl"
        complete = self.generation
        kept = {number: manifest.metrics_of(self.checkpoint(number)) for number in range(1, complete + 1)}
        if not path.exists():
            return [line for line in kept.values() if line]
        try:
            lines = [json.loads(line) for line in files.read_bytes(path).decode("utf-8").splitlines()]
            for number, line in enumerate(lines, start=1):
                if missing := PARTS - line.keys():
                    raise ValueError(f"line {number} has no {', '.join(sorted(missing))}")
            lines = [line for line in lines if line["generation"] <= complete]
            found = {line["generation"]: line for line in lines}
            for number, line in kept.items():
                if line and found.get(number) != line:
                    raise ValueError(f"generation {number} does not match its checkpoint")
        except (ValueError, TypeError, AttributeError) as error:
            again = ": remove it, and it is made again" if any(kept.values()) else ""
            raise UserError(f"{path} is damaged: {error}{again}") from None
        return lines

    @property
    def elapsed(self) -> float:
        """Seconds of work in the complete generations, over all commands."""
        lines = self.metrics()
        return float(lines[-1]["elapsed"]) if lines else 0.0

    @property
    def is_finished(self) -> bool:
        lines = [0.0, *(float(line["elapsed"]) for line in self.metrics())]
        pace = lines[-1] - lines[-2] if len(lines) > 1 else 0.0
        return self.config.length.is_over(max(0, self.generation), lines[-1], pace)

    def log(self, metrics: dict[str, Any]) -> None:
        """Adds the line of a generation; removes the line of one that was not completed."""
        lines = [json.dumps(line, ensure_ascii=False) for line in [*self.metrics(), metrics]]
        files.write_text(self.folder / "metrics.jsonl", "\n".join(lines) + "\n")


def arguments_of(config: Config) -> dict[str, Any]:
    """The arguments of the network for nets.make."""
    return {key: value for key, value in settings_of(config).items() if key != "name"}


def settings_of(config: Config) -> dict[str, Any]:
    """The settings of the network for its card."""
    network: dict[str, Any] = asdict(config.network)
    for name in ("start", "teacher", "teacher_generations"):  # how it learns, not what it is
        del network[name]
    if config.network.name == "lines":
        return {"name": network["name"], "channels": network["channels"]}
    if config.network.name != "anysize":
        return {"name": network["name"]}
    return network | ({"discount": config.selfplay.discount} if config.network.value == "wdl" else {})
