"""A curriculum: learn on small boards first, then carry the weights to larger ones.

gomoku15  =  9×9 ──► 11×11 ──► 13×13 ──► 15×15        each stage is a run: runs/NAME-9x9, …, runs/NAME

Games on small boards are short and cheap, and what is learned there holds on larger ones: the network has no
layer that depends on the size. A stage begins with the weights of the one before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tengen import games
from tengen.errors import UserError
from tengen.games import hex as hex_game
from tengen.games import mnk, othello
from tengen.games.game import Game
from tengen.training import config_files
from tengen.training.config import Config
from tengen.training.folders import new_folder

SIZES = {"mnk": (9, 11, 13, 15), "hex": (5, 7, 9), "othello": (6,)}  # sides of the boards to learn on first
SMALL_SHARE = 0.15  # of all minutes, for each stage but the last


@dataclass(frozen=True)
class Stage:
    """A run of a curriculum."""

    folder: Path
    config: Config

    @property
    def is_started(self) -> bool:
        return (self.folder / "config.toml").is_file()


def stages(config: Config, name: str | None, settings: list[str]) -> list[Stage]:
    """The runs that lead up to a run with this config, which is the last. UserError if there is no smaller
    board to begin with. settings: those of the command line, which hold for every stage."""
    game = games.find(config.game)
    if not config.length.minutes:
        raise UserError("a curriculum shares out minutes: give --minutes, not --generations")
    smaller = list(smaller_boards(game))
    if not smaller:
        raise UserError(f"{game.name} has no smaller board to begin with: leave --curriculum out")
    final = new_folder(name, game.name)
    found: list[Stage] = []
    start = config.network.start
    for number, (board, side) in enumerate([*smaller, (game.name, 0)]):
        is_last = number == len(smaller)
        share = 1 - SMALL_SHARE * len(smaller) if is_last else SMALL_SHARE
        own = config if is_last else _on_board(config, board, settings)
        own = replace(own, length=replace(own.length, minutes=config.length.minutes * share))
        own = replace(own, network=replace(config.network, start=start))
        found.append(Stage(final if is_last else final.with_name(f"{final.name}-{side}x{side}"), own))
        start = str(found[-1].folder)
    return found


def smaller_boards(game: Game) -> Iterator[tuple[str, int]]:
    """(game, side) of the boards to learn on before a game, the smallest first; of the same rules."""
    if game.rows != game.cols:
        return
    if mnk.is_mnk(game) and game.header[2] == 5:
        for side in SIZES["mnk"]:
            if side < game.rows:
                yield _named(mnk.game("mnk", side, side, 5, mnk.RULES[game.header[3]])), side
    for family, rules in (("hex", hex_game.play), ("othello", othello.play)):
        if game.play is rules:
            for side in SIZES[family]:
                if side < game.rows:
                    yield _named(games.find(f"{family}:size={side}")), side


def _named(game: Game) -> str:
    """The name of a registered game with these rules and this size, or its spec."""
    for name in games.names():
        if (found := games.find(name)).header == game.header and found.play is game.play:
            return name
    if mnk.is_mnk(game):
        rows, cols, k, rule = game.header
        return f"mnk:rows={rows},cols={cols},k={k},rule={mnk.RULES[rule]}"
    return game.name


def _on_board(config: Config, board: str, settings: list[str]) -> Config:
    """The config of a smaller board: its own file if there is one, else that of the large board."""
    own = config_files.load(board, settings, config.seed)
    if not (config_files.CONFIGS / f"{board}.toml").is_file():
        own = replace(config, game=board)
    return own
