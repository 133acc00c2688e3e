"""`tengen play GAME`: a game against a player, in the terminal or over a pipe."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tengen.command_line import command

if TYPE_CHECKING:
    from tengen.players.player import Player
    from tengen.players.session import GameSession


def play(
    game: Annotated[str, typer.Argument(help="A game.")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Whom to play against; human: a person beside you. Without: a bundled network, or uct.",
        ),
    ] = None,
    side: Annotated[Literal["first", "second"], typer.Option(help="Which side is yours.")] = "first",
    seed: Annotated[int, typer.Option(min=0, help="Of the opponent's chances.")] = 0,
) -> None:
    """Play against a player: type moves, or help for more. A game is resumed by its moves."""
    from tengen import games, players
    from tengen.games.position import Position
    from tengen.players import warming
    from tengen.players.human import Human
    from tengen.players.session import PERSON, GameSession
    from tengen.players.terminal_game import Terminal, TerminalGame

    if opponent is None or opponent.startswith("zero"):
        warming.ahead(games.find(game))
    position = Position.from_moves(game, " ".join(moves or []))
    usual = players.opponent(position.game)
    opponent = opponent or usual
    with ExitStack() as stack:

        def find(spec: str) -> "Player":
            return stack.enter_context(players.find(spec, position.game))

        found = find(opponent)
        theirs, name = (None, PERSON) if isinstance(found, Human) else (found, opponent)
        is_first = side == "first"
        session = GameSession(
            position,
            seats=(None, theirs) if is_first else (theirs, None),
            names=(PERSON, name) if is_first else (name, PERSON),
            adviser=lambda: theirs or find(usual),
            seed=seed,
        )
        terminal = Terminal()
        try:
            session.prepare()
            TerminalGame(session, terminal).run()
        finally:  # whatever happens, the game is not lost
            if not session.is_over:
                terminal.say(_how_to_go_on(session, game, opponent if opponent != usual else None, side))


def _how_to_go_on(session: "GameSession", game: str, opponent: str | None, side: str) -> str:
    """The command that goes on with a game that is not over, if its moves are all there is to it."""
    from tengen.games.position import Position

    said = f"not over, {'XO'[session.position.to_move - 1]} to move."
    start = session.variations[session.variations.root].position
    if start != Position.start(start.game):
        return said
    again = ["play", game, *session.position.moves]
    again += ["--opponent", opponent] if opponent is not None else []
    again += ["--side", side] if side != "first" else []
    return f"{said} Go on with: {command(*again)}"
