"""`tengen analyse GAME MOVES`, or FILE: what a player, or a bare search, thinks of a position."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tengen.cli.recorded import GameNumber, GameOrFile, MoveNumber
from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.games.game import Game
    from tengen.players.analysis import Analysis
    from tengen.players.player import Player

SIMULATIONS = 10_000
DISCOUNT = 0.99  # per ply, of a bare search: it prefers the sooner win
MEMORY = 1 << 30  # bytes of its tree, at most
EVERY = 1.0  # seconds between two reports of a live analysis


def analyse(
    game: GameOrFile,
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from there: h8 h9 i8, or 4435")] = None,
    game_number: GameNumber = None,
    move_number: MoveNumber = None,
    player: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Who thinks. Without: the nearest bundled network, else uct."),
    ] = None,
    search: Annotated[
        Literal["puct", "gumbel", "uct"] | None,
        typer.Option(help="A bare search instead, without a network."),
    ] = None,
    evaluator: Annotated[
        Literal["uniform", "rollout"] | None,
        typer.Option(help="What evaluates the leaves of a bare search: rollout, unless given."),
    ] = None,
    sims: Annotated[
        int | None,
        typer.Option(min=1, max=100_000_000, help=f"Simulations; {SIMULATIONS:,} if nothing else."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Think this long (not gumbel).")] = None,
    live: Annotated[bool, typer.Option(help="Think until Ctrl-C, showing the result every second.")] = False,
    leaves: Annotated[int, typer.Option(min=1, max=256, help="Leaves per round of a bare puct.")] = 8,
    top: Annotated[int, typer.Option(min=1, help="Moves to list.")] = 10,
    tree: Annotated[int, typer.Option(min=0, help="Show the tree to this depth (not uct).")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of random games and equal moves.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Analyse a position: visits, priors, values, proven results and lines of every move."""
    from tengen import players
    from tengen.arena.archive import is_record
    from tengen.cli.recorded import opened
    from tengen.errors import UserError
    from tengen.players.limit import Limit

    found = opened(game, moves, game_number, move_number)
    position, archived = found.position, found.archived
    if position.is_over:
        earlier = ": choose an earlier position by --move N" if is_record(game) else ""
        raise UserError(f"nothing to analyse: the game is over, {position.outcome}{earlier}")
    if player is not None and (search or evaluator):
        raise UserError("--search and --evaluator are for a bare search: leave them out with --player")
    if search == "gumbel" and (seconds is not None or live):
        raise UserError("gumbel plans all its simulations ahead: give it --sims, or use --search puct")
    if search == "uct" and (evaluator or tree):
        raise UserError("--evaluator and --tree are for --search puct and gumbel: uct has its own rollouts")
    is_unlimited = sims is None and seconds is None
    if live:
        limit = Limit(simulations=sims, seconds=seconds)
    elif player is not None and is_unlimited:
        limit = None  # the player's own
    else:
        limit = Limit(simulations=SIMULATIONS if is_unlimited else sims, seconds=seconds)
    if search in ("puct", "gumbel") or (search is None and evaluator):
        thinker = _bare(position.game, search or "puct", evaluator or "rollout", leaves, seed)
    else:
        spec = "uct:guided=no" if search == "uct" else player or players.analyst(position.game)
        thinker = players.find(spec, position.game)
    with thinker:
        thinker.prepare(limit)
        thinker.new_game(seed)
        analysis = thinker.analyse(position, limit, every=EVERY)
        if live:
            _watch(analysis, top, as_json)
        assert analysis.best is not None
        if as_json:
            print(json.dumps(analysis.snapshot.to_json()))
        else:
            played = archived.describe(move_number) + "\n" if archived and move_number else ""
            board = position.text(color=has_color(sys.stdout))
            print(f"{board}\n{played}\n{analysis.snapshot.to_text(top)}")
        if tree and not as_json:
            print("\n" + analysis.tree_text(tree), end="")


def _bare(game: "Game", search: str, evaluator: str, leaves: int, seed: int) -> "Player":
    """A search that knows nothing but the rules."""
    from tengen.evaluators.rollout import RolloutEvaluator
    from tengen.evaluators.uniform import UniformEvaluator
    from tengen.players.limit import Limit
    from tengen.players.mcts import Mcts
    from tengen.search.gumbel import Gumbel

    leaf_evaluator = UniformEvaluator() if evaluator == "uniform" else RolloutEvaluator(game, seed=seed)
    planned = Gumbel(noise=0.0) if search == "gumbel" else None
    return Mcts(game, leaf_evaluator, Limit(), MEMORY, planned, DISCOUNT, leaves)


def _watch(analysis: "Analysis", top: int, as_json: bool) -> None:
    """Reports until Ctrl-C, or until nothing is left to find."""
    try:
        for snapshot in analysis:
            if snapshot.is_final:
                return
            if as_json:
                print(json.dumps(snapshot.to_json()), flush=True)
            else:
                print(snapshot.to_text(top) + "\n", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        analysis.stop()
