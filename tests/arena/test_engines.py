"""A tournament with outside engines that misbehave: they lose their games, it goes on, nothing is left."""

from pathlib import Path

from tengen import games
from tengen.arena.tournament import Tournament, tournament_games, tournament_result
from tengen.workers.local import LocalWorkers
from tests.players.test_engine import Script

MISBEHAVIOUR = {
    "hangs": "def on_turn(taken): time.sleep(60)",
    "crashes": "def on_turn(taken): sys.exit('oh no')",
    "talks rubbish": "def on_turn(taken): say('banana')",
    "plays illegally": "def on_turn(taken): say(','.join(map(str, next(iter(taken)))))",
}


def test_bad_engines_lose_and_leave_nothing_behind(tmp_path: Path) -> None:
    scripts = {}
    for name, changes in MISBEHAVIOUR.items():
        (tmp_path / name).mkdir()
        scripts[name] = Script(tmp_path / name, changes)
    specs = {name: f"engine:seconds=0.2,cmd={script.command}" for name, script in scripts.items()}
    event = Tournament(games.find("gomoku9"), ("uniform", *specs.values()), seed=1)
    with LocalWorkers(2) as run_tasks:
        played = list(tournament_games(event, 1, run_tasks))
    assert len(played) == 20
    assert all(game.reason for game in played), "in every game at least one side misbehaves"
    reasons = {name: [g.reason for g in played if g.reason.startswith(spec)] for name, spec in specs.items()}
    assert all(reasons.values())
    assert "made no move within" in reasons["hangs"][0]
    assert "exited with code 1: 'oh no'" in reasons["crashes"][0]
    assert "'banana' instead of a move" in reasons["talks rubbish"][0]
    assert "there is a stone already" in reasons["plays illegally"][0]
    first = tournament_result(event, played).standings[0]
    assert first.player == "uniform" and (first.wins, first.forfeits) == (8, 0)
    assert all(script.is_gone() for script in scripts.values())
