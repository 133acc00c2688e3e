"""`tengen analyse GAME MOVES`: what a search thinks of a position."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tengen.terminal import has_color

if TYPE_CHECKING:
    from tengen.evaluators.evaluator import Evaluator
    from tengen.games.position import Position
    from tengen.search.mcts import Search
    from tengen.search.snapshot import Snapshot

LIVE_NODES = 1_000_000  # a live search stops when its tree is this large


def analyse(
    game: Annotated[str, typer.Argument(help="A game.")],
    moves: Annotated[list[str] | None, typer.Argument(help="Moves from the start: h8 h9 i8, or 4435")] = None,
    search: Annotated[Literal["puct", "gumbel", "uct"], typer.Option(help="Which search.")] = "puct",
    sims: Annotated[int, typer.Option(min=1, max=100_000_000, help="Simulations.")] = 10_000,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="Think this long instead (not gumbel).")
    ] = None,
    live: Annotated[bool, typer.Option(help="Think until Ctrl-C, showing the result every second.")] = False,
    evaluator: Annotated[
        Literal["uniform", "rollout"], typer.Option(help="What judges the leaves (not uct).")
    ] = "rollout",
    net: Annotated[
        str | None, typer.Option(metavar="PATH", help="A trained network instead: zoo/connect4, runs/c4.")
    ] = None,
    leaves: Annotated[int, typer.Option(min=1, max=256, help="Leaves a round, one batch (puct).")] = 8,
    top: Annotated[int, typer.Option(min=1, help="Moves to list.")] = 10,
    tree: Annotated[int, typer.Option(min=0, help="Show the tree to this depth (not uct).")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the random games.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Analyse a position: visits, priors, values, proven results and lines of every move."""
    from tengen.errors import UserError
    from tengen.games.position import Position

    position = Position.from_moves(game, " ".join(moves or []))
    if position.is_over:
        raise UserError(f"nothing to analyse: the game is over, {position.outcome}")
    if search == "gumbel" and (seconds is not None or live):
        raise UserError("gumbel plans all its simulations ahead: give it --sims, or use --search puct")
    if search == "uct":
        if live or tree or net:
            raise UserError(
                "--live, --tree and --net are for --search puct (--tree and --net also for gumbel)"
            )
        _print(_uct(position, sims, seconds, seed), position, top, as_json)
        return

    from tengen.search.gumbel import Gumbel
    from tengen.search.mcts import Search
    from tengen.search.puct import Puct
    from tengen.search.snapshot import of_search, tree_text

    gumbel, judge, discount = Gumbel(noise=0.0), _evaluator(evaluator, position, seed), 0.99
    if net is not None:
        from tengen.players.zero import evaluator_of, judge_of, open_network

        network, card = open_network(net, position.game)
        gumbel = Gumbel(noise=0.0, c_scale=card.c_scale)
        judge = judge_of(evaluator_of(network, position.game), card, position.game)
        discount = card.discount
    limit = LIVE_NODES if live or seconds is not None else sims
    trees = Search(
        position.game,
        judge,
        gumbel if search == "gumbel" else Puct(),
        max_simulations=limit,
        leaves_per_round=1 if search == "gumbel" else leaves,
        discount=discount,
    )
    trees.begin(position.state[None])
    if live:
        _run_live(trees, position, top, as_json)
    elif seconds is not None:
        trees.run_for(seconds)
    else:
        trees.run(sims)
    _print(of_search(position, trees), position, top, as_json)
    if tree and not as_json:
        print("\n" + tree_text(position.game, trees.trees, depth=tree), end="")


def _uct(position: "Position", sims: int, seconds: float | None, seed: int) -> "Snapshot":
    from tengen.games.randomness import new_random
    from tengen.search import uct
    from tengen.search.snapshot import of_uct

    limit = sims if seconds is None else LIVE_NODES
    search = uct.UctSearch(position.game, uct.Uct(), max_nodes=limit + 1)
    search.begin(position.state, new_random(seed))
    search.run_for(seconds)
    return of_uct(position, search)


def _evaluator(name: str, position: "Position", seed: int) -> "Evaluator":
    from tengen.evaluators.rollout import RolloutEvaluator
    from tengen.evaluators.uniform import UniformEvaluator

    return UniformEvaluator() if name == "uniform" else RolloutEvaluator(position.game, seed=seed)


def _run_live(trees: "Search", position: "Position", top: int, as_json: bool) -> None:
    """A second of thinking at a time, until Ctrl-C, until the result is proven or the tree is full."""
    from tengen.search.snapshot import of_search

    try:
        while not trees.is_proven and trees.room > 0:
            trees.run_for(1.0)
            if as_json:
                print(json.dumps(of_search(position, trees).to_json()), flush=True)
            else:
                print(of_search(position, trees).to_text(top) + "\n", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)


def _print(analysis: "Snapshot", position: "Position", top: int, as_json: bool) -> None:
    if as_json:
        print(json.dumps(analysis.to_json()))
    else:
        print(position.text(color=has_color(sys.stdout)) + "\n\n" + analysis.to_text(top))
