"""`tengen play GAME`: a game against a player, in the terminal or over a pipe."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tengen.command_line import command

if TYPE_CHECKING:
    from tengen.games.game import Game
    from tengen.players.player import Player

DEFAULT_OPPONENT = "uct:seconds=1"  # of games without a trained network in the box


def play(
    game: Annotated[str, typer.Argument(help="A game.")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Whom to play against; human: a person beside you. Without: the network in the box, or uct.",
        ),
    ] = None,
    side: Annotated[Literal["first", "second"], typer.Option(help="Which side is yours.")] = "first",
    seed: Annotated[int, typer.Option(min=0, help="Of the opponent's chances.")] = 0,
) -> None:
    """Play against a player: type moves, or help for more. A game is resumed by its moves."""
    from tengen import games, players
    from tengen.games.position import Position
    from tengen.players import warming
    from tengen.players.human import Conversation, Human, Terminal

    if opponent is None or opponent.startswith("zero"):
        warming.ahead(games.find(game))
    position = Position.from_moves(game, " ".join(moves or []))
    terminal = Terminal()
    usual = _usual(position.game)
    opponent = opponent or usual
    with ExitStack() as stack:
        mine = stack.enter_context(Human(position.game))
        theirs = stack.enter_context(players.find(opponent, position.game))
        is_first = side == "first"
        seats: tuple[Player, Player] = (mine, theirs) if is_first else (theirs, mine)
        names = ("you", opponent) if is_first else (opponent, "you")
        if isinstance(theirs, Human):
            names = ("first", "second")

        def adviser() -> "Player":
            if not isinstance(theirs, Human):
                return theirs
            return stack.enter_context(players.find(usual, position.game))

        terminal.say(f"{position.game.summary}: X {names[0]}, O {names[1]}. Type a move, or help.")
        conversation = Conversation(position, seats, names, adviser, seed, terminal)
        try:
            conversation.run()
        finally:  # whatever happens, the game is not lost
            if not conversation.is_over:
                again = ["play", game, *conversation.position.moves]
                again += ["--opponent", opponent] if opponent != usual else []
                again += ["--side", side] if side != "first" else []
                turn = "XO"[conversation.position.to_move - 1]
                terminal.say(f"not over, {turn} to move. Go on with: {command(*again)}")


def _usual(game: "Game") -> str:
    """The opponent for those who name none."""
    from tengen.players.zero import ZOO

    return f"zero:zoo/{game.name}" if (ZOO / game.name / "card.json").is_file() else DEFAULT_OPPONENT
