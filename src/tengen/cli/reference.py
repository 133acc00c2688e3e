"""`tengen reference …`: a player against positions whose every move is scored exactly."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.arena.reference import Answer, Score

app = typer.Typer(no_args_is_help=True, help="Measure a player on positions with exact scores (Connect 4).")


@app.callback()
def reference() -> None:
    """Measure a player on positions with exact scores (Connect 4)."""


@app.command()
def run(
    file: Annotated[Path | None, typer.Argument(help="JSON lines; without, Tengen's own set.")] = None,
    player: Annotated[str, typer.Option(help="Who: uct:sims=800, zero:runs/c4:sims=64, …")] = "uct:sims=800",
    mistakes: Annotated[int, typer.Option(min=0, help="How many mistakes to show.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the player's chances.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """How often a player finds the perfect move, and how often a good one."""
    from tengen import games, players
    from tengen.arena import reference as scored
    from tengen.cli.progress import progress

    positions = scored.read(file or scored.OWN_SET)
    with players.find(player, games.find(scored.GAME)) as asked:
        asked.new_game(seed)
        answers = list(progress(scored.ask(asked, positions), len(positions), "positions"))
    score = scored.score(answers)
    if as_json:
        print(json.dumps(_to_json(player, score)))
    else:
        _print(player, score, mistakes)


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="JSON lines; without, Tengen's own set.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare every score of a set with Tengen's own solver."""
    import time

    from tengen.arena import reference as scored
    from tengen.cli.progress import progress

    positions = scored.read(file or scored.OWN_SET)
    began = time.perf_counter()
    found = list(progress(scored.disagreements(positions), len(positions), "positions"))
    seconds = time.perf_counter() - began
    wrong = sum(map(len, found))
    scores = scored.NUM_COLUMNS * len(positions)
    if as_json:
        print(json.dumps({"scores": scores, "different": wrong, "seconds": round(seconds, 3)}))
    else:
        for line, (one, columns) in enumerate(zip(positions, found, strict=True), start=1):
            for column, ours in columns:
                print(f"position {line}, column {column + 1}: {one.scores[column]} in the set, solved {ours}")
        print(f"{scores - wrong} of {scores} scores agree with the solver, {seconds:.1f} s")
    if wrong:
        raise typer.Exit(1)


@app.command()
def make(
    file: Annotated[Path, typer.Argument(help="Where to write the set (JSON lines).")],
    positions: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 1000,
    plies: Annotated[str, typer.Option(help="Moves made before, from-to.")] = "8-18",
    player: Annotated[
        str | None, typer.Option(help="Whose games: uct:sims=50, …; without, random moves.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the positions.")] = 0,
) -> None:
    """Build a set of positions, scored by Tengen's own solver."""
    from contextlib import ExitStack

    from tengen import files, games, players
    from tengen.arena import reference as scored
    from tengen.cli.progress import progress
    from tengen.errors import UserError

    first, dash, last = plies.partition("-")
    if not (first.isdigit() and dash and last.isdigit() and int(first) <= int(last) < scored.NUM_CELLS):
        raise UserError(f"--plies is from-to, such as 8-18, below {scored.NUM_CELLS}; got '{plies}'")
    wanted = range(int(first), int(last) + 1)
    with ExitStack() as stack:
        chosen = stack.enter_context(players.find(player, games.find(scored.GAME))) if player else None
        if chosen:
            chosen.new_game(seed)
        lines = []
        try:
            for one in progress(scored.make(positions, wanted, seed, chosen), positions, "positions"):
                lines.append(scored.to_line(one))
        finally:  # Ctrl-C keeps what there is
            if lines:
                files.write_text(file, "".join(lines))
                print(f"{len(lines)} positions of {plies} plies written to {file}")


def _to_json(player: str, score: "Score") -> dict[str, object]:
    return {
        "player": player,
        "perfect": asdict(score.perfect),
        "good": asdict(score.good),
        "good_discriminating": asdict(score.good_discriminating),
        "by_ply": [
            {"ply": ply, "perfect": asdict(perfect), "good": asdict(good)}
            for ply, (perfect, good) in score.by_ply.items()
        ],
        "mistakes": [_mistake(answer) for answer in score.mistakes],
    }


def _mistake(answer: "Answer") -> dict[str, object]:
    position = answer.scored.position
    return {
        "board": [int(cell) for cell in position.state[position.game.cells]],
        "move_scores": list(answer.scored.scores),
        "chosen": position.game.moves.name(answer.choice.action),
    }


def _print(player: str, score: "Score", mistakes: int) -> None:
    print(f"{player} on {score.perfect.n} positions (95 % intervals)\n")
    print(f"perfect               {score.perfect}")
    print(f"good                  {score.good}")
    print(f"good, discriminating  {score.good_discriminating}   on {score.good_discriminating.n}\n")
    print(f"{'ply':>3}{'n':>6}  {'perfect':>8}{'good':>9}")
    for ply, (perfect, good) in score.by_ply.items():
        print(f"{ply:>3}{perfect.n:>6}  {100 * perfect.rate:>6.1f} %{100 * good.rate:>7.1f} %")
    for answer in score.mistakes[:mistakes]:
        position = answer.scored.position
        print(f"\n{position.text(color=sys.stdout.isatty())}")
        print("scores " + "  ".join(str(s) if s != -99 else "-" for s in answer.scored.scores), end="")
        print(f"; played {position.game.moves.name(answer.choice.action)}")
    if len(score.mistakes) > mistakes:
        print(f"\n{len(score.mistakes)} mistakes in all: --mistakes N shows more, --json all")
