"""GameSession: everything that can be done with a game, with players that are made for the test."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.errors import UserError
from tengen.games import records
from tengen.games.position import Position
from tengen.players.decision import Decider
from tengen.players.ending import Ending
from tengen.players.limit import Clock, Limit
from tengen.players.player import Choice, Player, PlayerFailedError
from tengen.players.session import GameSession


class Scripted(Decider):
    """Plays the first legal action; notes what it was asked, and lets a watch run while it thinks."""

    summary = "for tests"

    def __init__(self, name: str = "tictactoe", watch: "Watch | None" = None, takes: float = 0.0) -> None:
        super().__init__(Position.start(name).game)
        self.seeds: list[int] = []
        self.limits: list[Limit] = []
        self.num_prepared = 0
        self._watch, self._takes = watch, takes

    def prepare(self, limit: Limit | None = None) -> None:
        self.num_prepared += 1
        if self._watch:
            self._watch.now += 100.0

    def new_game(self, seed: int) -> None:
        self.seeds.append(seed)

    def decide(self, position: Position, limit: Limit) -> Choice:
        self.limits.append(limit)
        if self._watch:
            self._watch.now += self._takes
        return Choice(position.legal_actions[0], 0.25, note="one look")


class Broken(Scripted):
    def decide(self, position: Position, limit: Limit) -> Choice:
        raise PlayerFailedError("it hurts")


class Cheating(Scripted):
    def decide(self, position: Position, limit: Limit) -> Choice:
        return Choice(0)


class Watch:
    """A time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def against(player: Player | None = None, game: str = "tictactoe", side: int = 1) -> GameSession:
    """A started session of a person against a player."""
    player = player or Scripted(game)
    session = GameSession(game, (None, player) if side == 1 else (player, None))
    session.start()
    return session


def two_persons(moves: str = "", game: str = "tictactoe") -> GameSession:
    session = GameSession(Position.from_moves(game, moves))
    session.start()
    return session


def moves(session: GameSession) -> str:
    """The moves of the game, wherever one looks."""
    return " ".join(session.variations[session.tip].position.moves)


# Playing


def test_a_person_plays_and_a_player_replies() -> None:
    session = against()
    assert session.is_persons_turn and session.status == "X to move"
    assert session.play("b2").move == "b2"
    assert not session.is_persons_turn and session.status == "O to move"
    choice = session.reply()
    assert choice is not None and (choice.action, choice.value) == (0, 0.25)
    assert moves(session) == "b2 a3" and session.position.last_move == "a3"
    assert (session.result, session.is_over, session.ending) == ("*", False, None)


def test_names_are_given_or_found() -> None:
    assert GameSession("tictactoe", (None, Scripted())).names == ("human", "scripted")
    assert GameSession("tictactoe", names=("Ann", "Bob")).names == ("Ann", "Bob")


def test_nobody_moves_out_of_turn() -> None:
    session = against()
    with pytest.raises(UserError, match="it is the turn of human, a person: nobody can be asked for a reply"):
        session.reply()
    session.play("b2")
    with pytest.raises(UserError, match="it is the turn of scripted: wait for the reply"):
        session.play("c1")
    assert moves(session) == "b2"


@pytest.mark.parametrize("move", ["b2", "z9", "", "undo", "\0", "9" * 500, 99, -1])
def test_nonsense_is_refused_and_changes_nothing(move: str | int) -> None:
    session = two_persons("b2")
    before = session.to_json()
    with pytest.raises(UserError, match=r"illegal move '.*' in tictactoe: "):
        session.play(move)
    assert session.to_json() == before


def test_the_board_ends_a_game() -> None:
    session = two_persons("a1 a2 b1 b2")
    session.play("c1")
    assert session.ending == Ending(1, "board") and session.result == "1-0"
    assert session.status == "X wins (human)"
    with pytest.raises(
        UserError, match=r"illegal move 'c3' in tictactoe: the game is over, first player wins"
    ):
        session.play("c3")
    for ask in (session.hint, session.evaluate, session.resign):
        with pytest.raises(UserError, match=r"the game is over, X wins \(human\)"):
            ask()
    drawn = two_persons("b2 a1 a2 c2 b3 b1 c1 a3 c3")
    assert drawn.ending == Ending(None, "board") and (drawn.result, drawn.status) == ("1/2", "a draw")


def test_players_are_prepared_and_begin_with_the_seed() -> None:
    player = Scripted()
    session = GameSession("tictactoe", (None, player), seed=7)
    session.prepare()
    assert player.num_prepared == 1 and player.seeds == []
    session.start()
    session.play("b2")
    session.new_game()
    session.new_game(3)
    assert player.seeds == [7, 8, 3] and moves(session) == ""


def test_a_player_gets_the_limit_of_its_move() -> None:
    player = Scripted()
    session = against(player)
    session.play("b2")
    session.reply()
    session.play("c1")
    session.reply(Limit(simulations=5))
    assert player.limits == [Limit(), Limit(simulations=5)]


@pytest.mark.parametrize(
    ("player", "why"), [(Broken(), "it hurts"), (Cheating(), "there is a stone already")]
)
def test_a_player_that_fails_has_lost(player: Player, why: str) -> None:
    session = against(player)
    session.play("a3")  # action 0
    assert session.reply() is None
    assert session.ending is not None and session.ending.reason == "failed" and session.ending.winner == 1
    assert session.ending.detail.endswith(why) and session.result == "1-0"
    with pytest.raises(
        UserError, match=r"the game is over, X wins \(human\), O gave up: undo takes that back"
    ):
        session.play("b2")
    session.undo()
    assert not session.is_over and moves(session) == "a3"


def test_who_resigns_has_lost_and_may_think_again() -> None:
    session = two_persons("b2")
    session.resign()
    assert session.ending == Ending(1, "resigned") and session.status == "X wins (human), O gave up"
    with pytest.raises(UserError, match="the game is over"):
        session.resign()
    session.undo()
    assert session.ending is None and moves(session) == "b2"
    session.resign(side=1)
    assert session.result == "0-1"
    session.undo()
    with pytest.raises(UserError, match="a side is 1 or 2, got 3"):
        session.resign(side=3)


def test_sides_are_swapped() -> None:
    session = against()
    session.play("b2")
    session.swap_sides()
    assert session.names == ("scripted", "human") and session.is_persons_turn
    session.play("a1")
    assert session.reply() is not None and moves(session) == "b2 a1 a3"


# Undo and redo


def test_undo_and_redo_go_from_turn_to_turn_of_the_person() -> None:
    session = against()
    for move in ("b2", "c1"):
        session.play(move)
        session.reply()
    assert moves(session) == "b2 a3 c1 b3"
    session.undo()
    assert moves(session) == "b2 a3" and session.is_persons_turn
    session.undo()
    assert moves(session) == ""
    with pytest.raises(UserError, match="there is no move to take back"):
        session.undo()
    session.redo()
    assert moves(session) == "b2 a3"
    session.redo()
    assert moves(session) == "b2 a3 c1 b3"
    with pytest.raises(UserError, match="there is no move to play again"):
        session.redo()


def test_undo_does_not_go_before_the_persons_first_turn() -> None:
    session = against(side=2)
    session.reply()
    with pytest.raises(UserError, match="there is no move to take back"):
        session.undo()
    assert moves(session) == "a3"


def test_undo_during_the_players_turn_takes_back_one_move() -> None:
    session = against()
    session.play("b2")
    session.undo()
    assert moves(session) == "" and session.is_persons_turn


def test_two_persons_and_two_players_go_move_by_move() -> None:
    persons, players = two_persons("b2 a1"), GameSession("tictactoe", (Scripted(), Scripted()))
    players.reply()
    players.reply()
    for session in (persons, players):
        before = moves(session)
        session.undo()
        assert moves(session) == before.split()[0]
        session.redo()
        assert moves(session) == before


def test_another_move_after_undo_is_the_game_and_the_old_one_a_variation() -> None:
    session = two_persons("b2 a1 c1")
    session.undo()
    session.undo()
    session.play("c3")
    assert session.variations.to_text() == "b2 c3 (a1 c1)"
    assert session.variations.is_main(session.tip)
    session.undo()
    session.redo()
    assert moves(session) == "b2 c3"  # what was played last
    session.undo()
    session.play("a1")
    assert session.variations.to_text() == "b2 a1 (c3) c1" and moves(session) == "b2 a1"


# Looking around


def test_looking_changes_nothing_in_the_game() -> None:
    session = against()
    session.play("b2")
    session.reply()
    tip = session.tip
    assert session.first().move is None and session.is_looking
    assert session.forward().move == "b2" and not session.is_persons_turn
    session.play("c3")  # for the player: a variation
    session.play("c2")
    assert session.tip == tip and session.variations.to_text() == "b2 a3 (c3 c2)"
    assert session.reply() is not None  # the player answers there too
    assert session.variations.to_text() == "b2 a3 (c3 c2 a3)"
    assert session.back().move == "c2" and session.last().move == "a3"
    assert session.resume().id == tip and not session.is_looking and session.status == "X to move"
    session.play("c1")
    assert moves(session) == "b2 a3 c1"


def test_the_line_looked_at_becomes_the_game() -> None:
    session = against()
    session.play("b2")
    session.reply()
    session.back()
    session.play("c3")
    session.continue_here()
    assert moves(session) == "b2 c3" and session.variations.to_text() == "b2 c3 (a3)"
    assert session.is_persons_turn and not session.is_looking


def test_a_failure_while_looking_loses_nothing() -> None:
    session = against(Broken())
    session.play("b2")
    session.first()
    session.play("c3")
    with pytest.raises(UserError, match="broken could not move: it hurts"):
        session.reply()
    assert not session.is_over


def test_promoting_another_line_makes_it_the_game() -> None:
    session = two_persons("b2 a1 c1")
    session.go_to(1)
    session.play("c3")
    session.promote(session.variations.current)
    assert moves(session) == "b2 c3" and session.variations.to_text() == "b2 c3 (a1 c1)"
    session.promote(session.tip)
    assert moves(session) == "b2 c3"


def test_a_deleted_game_goes_on_from_the_move_before() -> None:
    session = two_persons("b2 a1 c1")
    session.resign()
    session.delete(2)
    assert moves(session) == "b2" and not session.is_over and not session.is_looking
    with pytest.raises(UserError, match="there is no node 3"):
        session.go_to(3)
    with pytest.raises(UserError, match="there is no node 77"):
        session.delete(77)
    with pytest.raises(UserError, match="the start of a game cannot be deleted"):
        session.delete(0)


# Advice


def test_hints_and_evaluations() -> None:
    session = against()
    assert session.hint().action == 0 and session.variations.node.value is None
    assert session.evaluate().note == "one look" and session.variations.node.value == 0.25
    session.play("b2")
    session.evaluate()
    assert session.variations.node.value == -0.25  # for the first player
    assert moves(session) == "b2"


def test_the_adviser_is_made_once_and_only_if_asked() -> None:
    made: list[Player] = []

    def make() -> Player:
        made.append(Scripted())
        return made[-1]

    session = GameSession("tictactoe", adviser=make)
    assert made == []
    session.hint(Limit(seconds=1.0))
    session.hint()
    assert len(made) == 1 and isinstance(made[0], Scripted)
    assert made[0].limits == [Limit(seconds=1.0), Limit()]


def test_without_an_adviser_there_is_no_advice() -> None:
    with pytest.raises(UserError, match="no advice: no player takes part who could be asked"):
        two_persons().hint()
    with pytest.raises(UserError, match="no advice: it hurts"):
        against(Broken()).hint()
    session = two_persons("a1 a2 b1 b2")
    session.play("c1")
    session.undo()
    session.last()
    with pytest.raises(UserError, match="the game is over here, first player wins"):
        session.hint()


# Clocks


def timed(watch: Watch, player: Player | None = None, seconds: float = 60.0) -> GameSession:
    clock = Clock(seconds, increment=1.0)
    return GameSession("tictactoe", (None, player), clocks=(clock, clock), now=watch)


def left(session: GameSession) -> list[float]:
    clocks = [session.clocks.clock(side) for side in (1, 2)]
    return [round(clock.left, 6) for clock in clocks if clock is not None]


def test_time_runs_for_the_side_to_move() -> None:
    watch = Watch()
    player = Scripted(watch=watch, takes=5.0)
    session = timed(watch, player)
    session.prepare()
    assert left(session) == [60.0, 60.0]
    session.start()
    watch.now += 10.0
    assert left(session) == [50.0, 60.0]
    session.play("b2")
    assert left(session) == [51.0, 60.0]  # with the increment
    session.reply()
    assert left(session) == [51.0, 56.0] and session.clocks.running == 1
    assert player.limits == [Limit(clock=Clock(60.0, 1.0))]
    session.play("c1")
    session.reply(Limit(simulations=9))
    assert player.limits[1] == Limit(simulations=9, clock=Clock(56.0, 1.0))


def test_clocks_pause_while_one_looks_elsewhere_and_when_the_game_is_over() -> None:
    watch = Watch()
    session = timed(watch)
    session.start()
    session.play("b2")
    watch.now += 10.0
    session.first()
    watch.now += 1000.0
    assert left(session) == [61.0, 50.0]
    session.play("a1")  # a variation
    watch.now += 1000.0
    session.resume()
    watch.now += 5.0
    assert left(session) == [61.0, 45.0]
    session.resign()
    watch.now += 1000.0
    assert left(session) == [61.0, 45.0]
    session.undo()
    watch.now += 1.0
    assert left(session) == [61.0, 44.0]
    session.new_game()
    assert left(session) == [60.0, 60.0]


def test_a_fallen_flag_loses() -> None:
    watch = Watch()
    session = timed(watch)
    session.start()
    watch.now += 60.0
    assert not session.is_over  # the last moment
    watch.now += 0.5
    assert session.ending == Ending(2, "time") and session.result == "0-1"
    assert session.status == "O wins (human), X lost on time"
    with pytest.raises(UserError, match=r"the game is over, O wins \(human\), X lost on time$"):
        session.play("b2")
    for change in (session.undo, session.continue_here):
        with pytest.raises(UserError, match="X lost on time: start a new one"):
            change()
    session.first()
    assert session.is_over and moves(session) == ""


def test_a_player_that_thinks_too_long_loses() -> None:
    watch = Watch()
    session = timed(watch, Scripted(watch=watch, takes=61.0))
    session.start()
    session.play("b2")
    assert session.reply() is None
    assert session.ending == Ending(1, "time") and moves(session) == "b2"
    watch.now += 1000.0
    assert left(session) == [61.0, -1.0]


def test_a_side_may_be_without_a_clock() -> None:
    watch = Watch()
    session = GameSession("tictactoe", clocks=(None, Clock(5.0)), now=watch)
    session.start()
    watch.now += 1000.0
    session.play("b2")
    assert left(session) == [5.0] and not session.is_over


# Files


def test_a_session_is_saved_and_loaded_with_everything(tmp_path: Path) -> None:
    session = GameSession("gomoku9", names=("Ann", "Bob"))
    session.start()
    for move in ("e5", "e6", "d5"):
        session.play(move)
    session.comment("hm [?]\n\\")
    session.comment("first!", 1)
    session.back()
    session.play("f5")
    session.resume()
    session.resign()
    assert session.save(tmp_path / "game.sgf") == ""
    other = two_persons(game="gomoku9")
    assert other.load(tmp_path / "game.sgf") == ""
    assert other.variations == session.variations and other.names == ("Ann", "Bob")
    assert other.variations.to_text() == "e5 e6 d5 (f5)" and moves(other) == "e5 e6 d5"
    assert not other.is_over  # a resigned game can go on
    assert (
        "RE[W+]" not in other.export(".sgf")[0] and "RE[B+]" in other.export(".sgf")[0]
    )  # it says what it was
    other.play("a1")
    assert "RE[Void]" in other.export(".sgf")[0]


def test_a_game_taken_back_is_loaded_where_it_stands(tmp_path: Path) -> None:
    session = two_persons("4 4 3", game="connect4")
    session.undo()
    session.play("7")
    session.play("1")
    session.undo()
    session.undo()
    session.first()  # looking elsewhere does not move the game
    assert session.save(tmp_path / "game.sgf") == ""
    other = two_persons(game="connect4")
    other.load(tmp_path / "game.sgf")
    assert moves(other) == "4 4" and not other.is_looking and other.status == "X to move"
    assert other.variations == session.variations
    other.redo()
    other.redo()
    assert moves(other) == "4 4 7 1"
    other.save(tmp_path / "game.sgf")
    session.load(tmp_path / "game.sgf")
    assert moves(session) == "4 4 7 1" and session.variations.to_text() == "4 4 7 (3) 1"


def test_a_win_taken_back_is_loaded_as_a_game_that_goes_on(tmp_path: Path) -> None:
    session = two_persons("a1 a2 b1 b2")
    session.play("c1")
    session.undo()
    session.save(tmp_path / "game.sgf")
    other = two_persons()
    other.load(tmp_path / "game.sgf")
    assert moves(other) == "a1 a2 b1 b2" and other.result == "*" and "result: *" in other.export(".txt")[0]
    other.redo()
    assert other.result == "1-0"


def test_a_file_that_stands_in_a_variation_continues_the_main_line(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;GM[4](;B[hh];W[ii])(;B[aa]IP[]))")
    session = two_persons(game="gomoku15")
    session.load(tmp_path / "game.sgf")
    assert moves(session) == "h8 i7" and not session.is_looking


COMMENTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r") | st.sampled_from("[]\\")
)
STEPS = st.lists(
    st.integers(0, 99) | st.sampled_from(["undo", "redo", "back", "forward", "resume"]) | COMMENTS
)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "hex7", "othello6", "renju15"])
def test_every_session_comes_back(game: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A number plays a move, a word is an operation, any other text a comment."""
    file = tmp_path_factory.mktemp("sessions") / "game.sgf"

    @given(STEPS)
    @settings(max_examples=50, deadline=None)
    def check(steps: list[int | str]) -> None:
        session = two_persons(game=game)
        for step in steps:
            with suppress(UserError):  # nothing to take back, or the game is over
                if isinstance(step, int):
                    legal = session.position.legal_actions
                    session.play(legal[step % len(legal)] if legal else 0)
                elif step in ("undo", "redo", "back", "forward", "resume"):
                    getattr(session, step)()
                else:
                    session.comment(step)
        assert session.save(file) == ""
        other = two_persons(game=game)
        assert other.load(file) == ""
        assert other.variations == session.variations
        assert moves(other) == moves(session) and other.result == session.result

    check()


@pytest.mark.parametrize("form", [".txt", ".psq"])
def test_text_and_psq_hold_the_game_and_say_what_they_do_not(form: str, tmp_path: Path) -> None:
    session = two_persons("h8 h9 i8", game="gomoku15")
    file = tmp_path / f"game{form}"
    assert session.save(file) == ""
    session.undo()
    assert session.save(file) == "left out: 1 variation; .sgf keeps all of it"
    assert records.read(file) == records.Record("gomoku15", ("h8", "h9"), ("human", "human"))
    session.resign()
    session.save(file)
    assert records.read(file).result == "0-1"
    session.undo()
    session.save(file)
    assert records.read(file).result == "*"


def test_a_finished_game_taken_back_is_not_finished(tmp_path: Path) -> None:
    session = two_persons("a1 a2 b1 b2")
    session.play("c1")
    session.save(tmp_path / "game.txt")
    assert records.read(tmp_path / "game.txt").result == "1-0"
    session.undo()
    session.save(tmp_path / "game.txt")
    assert records.read(tmp_path / "game.txt") == records.Record(
        "tictactoe", ("a1", "a2", "b1", "b2"), ("human", "human")
    )


def test_what_cannot_be_loaded_changes_nothing(tmp_path: Path) -> None:
    session = two_persons("b2")
    before = session.to_json()
    four = tmp_path / "four.txt"
    four.write_text("# tengen connect4\n4 4")
    with pytest.raises(UserError, match=r"four\.txt is a game of connect4, this is tictactoe"):
        session.load(four)
    four.write_text("# tengen tictactoe\nb2 b2")
    with pytest.raises(UserError, match=r"four.txt line 2: illegal move 'b2'"):
        session.load(four)
    with pytest.raises(UserError, match="no such file"):
        session.load(tmp_path / "none.sgf")
    with pytest.raises(UserError, match="it is a game of connect4, this is tictactoe"):
        session.open(two_persons(game="connect4").variations)
    with pytest.raises(UserError, match="cannot write"):
        session.save(tmp_path / "missing" / "game.txt")
    assert session.to_json() == before


def test_players_keep_their_names_and_begin_anew_when_a_game_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text("# tengen tictactoe\nfirst: Ann\nsecond: Bob\ndate: 2026-09-10\nb2 a1")
    player = Scripted()
    session = against(player)
    session.load(file)
    assert session.names == ("human", "scripted") and player.seeds == [0, 0]
    assert session.export(".txt")[0] == (
        "# tengen tictactoe\nfirst: human\nsecond: scripted\nresult: *\ndate: 2026-09-10\nb2 a1\n"
    )


def test_a_note_says_what_could_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[4](;B[hh])(;B[zz]))")
    session = two_persons(game="gomoku15")
    assert session.load(file) == "left out a variation, line 1: 'zz' is not on a board of 15×15"


def test_a_position_set_up_by_hand(tmp_path: Path) -> None:
    start = Position.from_cells("tictactoe", [1, 1, 0, 2, 2, 0, 0, 0, 0], to_move=2)
    session = GameSession(start)
    session.start()
    session.play("c2")
    assert session.status == "O wins (human)"
    assert session.save(tmp_path / "game.sgf") == ""
    with pytest.raises(UserError, match="this position was set up by hand"):
        session.save(tmp_path / "game.txt")
    session.new_game()
    assert session.position == start
    session.load(tmp_path / "game.sgf")
    assert moves(session) == "c2" and session.result == "0-1"


# JSON


def test_the_whole_state_as_json() -> None:
    watch = Watch()
    session = timed(watch, Scripted())
    session.start()
    session.play("b2")
    session.comment("well")
    session.reply()
    session.back()
    session.evaluate()
    watch.now += 3.0
    assert json.loads(json.dumps(session.to_json())) == {
        "game": "tictactoe",
        "rows": 3,
        "cols": 3,
        "look": "squares",
        "cells": [0, 0, 0, 0, 1, 0, 0, 0, 0],
        "moves": ["b2"],
        "last_move": "b2",
        "to_move": 2,
        "legal_moves": ["a3", "b3", "c3", "a2", "c2", "a1", "b1", "c1"],
        "winning": [],
        "nodes": [
            {"id": 0, "parent": None, "move": None},
            {"id": 1, "parent": 0, "move": "b2", "comment": "well", "value": -0.25},
            {"id": 2, "parent": 1, "move": "a3"},
        ],
        "current": 1,
        "tip": 2,
        "seats": [{"name": "human", "is_person": True}, {"name": "scripted", "is_person": False}],
        "clocks": {
            "first": {"left": 61.0, "increment": 1.0},
            "second": {"left": 61.0, "increment": 1.0},
            "running": None,
        },
        "result": "*",
        "ending": None,
        "status": "X to move",
    }


def test_json_of_a_game_that_is_won() -> None:
    session = two_persons("a1 a2 b1 b2")
    assert session.to_json()["clocks"] is None
    session.play("c1")
    found = session.to_json()
    assert found["winning"] == [6, 7, 8] and found["legal_moves"] == []
    assert found["ending"] == {"winner": 1, "reason": "board", "detail": ""} and found["result"] == "1-0"


def test_json_stays_small() -> None:
    session = GameSession("gomoku15")
    session.start()
    for i in range(100):
        session.play(i * 7 % 225)
        if session.is_over:
            break
    assert len(json.dumps(session.to_json())) < 10_000
