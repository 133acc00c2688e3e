"""`tengen blunders FILE`: where a game was lost."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.recorded import GameNumber

if TYPE_CHECKING:
    from tengen.arena.archive import Archived
    from tengen.arena.blunders import Judged

SIMULATIONS = 2_000


def blunders(
    file: Annotated[Path, typer.Argument(help="A record of a game: .sgf .psq .txt, or games.jsonl.")],
    game_number: GameNumber = None,
    player: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Who judges. Without: the nearest bundled network.")
    ] = None,
    sims: Annotated[
        int | None,
        typer.Option(min=1, max=100_000_000, help=f"Simulations per move; {SIMULATIONS:,} if nothing else."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Seconds per move.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Moves to list.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, every move.")] = False,
) -> None:
    """List where a game was lost: the moves that lost most, what was better, and the line after that."""
    from tengen import players
    from tengen.arena.archive import read_game
    from tengen.arena.blunders import judge_game, turning_point
    from tengen.cli.progress import progress
    from tengen.errors import UserError
    from tengen.players.limit import Limit

    if player and player.partition(":")[0] == "human":
        raise UserError("human cannot judge a whole game: choose a player that searches")
    archived = read_game(file, game_number)
    game = archived.positions[0].game
    limit: Limit | None = Limit(simulations=sims, seconds=seconds)
    if sims is None and seconds is None:
        limit = None if player else Limit(simulations=SIMULATIONS)  # a spec has its own
    with players.find(player or players.analyst(game), game) as judge:
        judge.prepare(limit)
        judged = list(progress(judge_game(archived, judge, limit), archived.num_chosen, "moves"))
    loser = {"1-0": 2, "0-1": 1}.get(archived.record.result)
    lost = turning_point(judged, loser) if loser else None
    if as_json:
        facts = {
            "game": game.name,
            "players": archived.record.players,
            "result": archived.record.result,
            "judge": player or players.analyst(game),
            "lost_with": lost.number if lost else None,
            "moves": [one.to_json() for one in judged],
        }
        print(json.dumps(facts))
        return
    print(to_text(archived, judged, lost, top))


def to_text(archived: "Archived", judged: "list[Judged]", lost: "Judged | None", top: int) -> str:
    """The moves that lost most, in the order of the game, and the one that lost it."""
    from tengen.arena.blunders import LEAST

    record = archived.record
    first, second = record.players
    lines = [f"{record.game}, {first or 'X'} against {second or 'O'}: {record.result}"]
    worst = sorted((one for one in judged if one.lost >= LEAST), key=lambda one: -one.lost)[:top]
    if not worst:
        return "\n".join([*lines, f"no move lost more than {LEAST:g}"])
    rows = [("move", "", "played", "before", "after", "better", "line")]
    for one in sorted(worst, key=lambda one: one.number):
        before, after = _value(one.before, one.win_before), _value(one.after, one.win_after)
        line = " ".join(one.line) if one.better else ""
        rows.append((str(one.number), "XO"[one.player - 1], one.move, before, after, one.better or "", line))
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        cells[0] = row[0].rjust(widths[0])
        lines.append("  ".join([*cells, row[6]]).rstrip())
    if lost is not None:
        instead = f", better was {lost.better}" if lost.better else ""
        lines.append(f"{'XO'[lost.player - 1]} lost the game with move {lost.number}, {lost.move}{instead}")
    elif record.result in ("1-0", "0-1"):
        lines.append("no single move lost the game: it was lost from the start, or little by little")
    return "\n".join(lines)


def _value(value: float, win: int | None) -> str:
    """`+0.12`, or `win in 7` if it is proven."""
    if win is None:
        return f"{value:+.2f}"
    return f"{'win' if win > 0 else 'loss'} in {abs(win)}"
