"""What a page can say and what it gets: a real server, a real WebSocket."""

import base64
import io
from contextlib import ExitStack
from typing import Any

import pytest
from PIL import Image, ImageSequence
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tengen import players
from tengen.games.position import Position
from tengen.games.variations import JUDGEMENTS
from tengen.players.decision import Decider
from tengen.players.limit import Limit
from tengen.players.player import Choice, PlayerFailedError
from tengen.web import connection, pages
from tests.web.conftest import PERSON, SECONDS, Client, Running

LEVEL = {"kind": "level", "level": 1}
PERFECT = {"kind": "perfect"}


def moves(state: dict[str, Any]) -> list[str]:
    found: list[str] = state["moves"]
    return found


def node_of(state: dict[str, Any], move: str) -> int:
    return int(next(node["id"] for node in state["nodes"] if node["move"] == move))


def test_hello_comes_first_and_once(server: Running, client: Client) -> None:
    assert client.hello["state"] is None and client.hello["is_restored"] is False and client.session
    assert client.refused("hello")[1] == "type"
    assert client.refused("play", move="b2") == ("there is no game yet: start one", "move")
    for kind in ("undo", "hint", "review", "resign"):
        assert client.refused(kind)[0] == "there is no game yet: start one"
    with server.page(sgf="nonsense") as other:
        assert (other.hello["type"], other.hello["field"]) == ("error", "sgf")
        assert other.refused("undo") == ("the first message is hello", "type")
        assert other.ask("hello")["type"] == "answer"


def test_a_game_of_two_people_with_undo_redo_variations_and_comments(client: Client) -> None:
    state = client.new("tictactoe", moves=["a1"])
    assert state["moves"] == ["a1"] and state["to_move"] == 2 and state["can_undo"]
    assert [seat["kind"] for seat in state["seats"]] == ["person", "person"]
    state = client.done("play", move="b2")
    assert not state["can_redo"] and not state["is_thinking"] and state["suggested_level"] is None
    assert moves(client.done("undo")) == ["a1"]
    assert moves(client.done("redo")) == ["a1", "b2"]
    root = state["nodes"][0]["id"]
    state = client.done("go", node=root)
    assert state["is_looking"] and state["moves"] == []
    state = client.done("play", move="c3")
    assert state["is_looking"] and state["moves"] == ["c3"]
    c3 = node_of(state, "c3")
    state = client.done("comment", node=c3, text="a corner")
    assert next(node for node in state["nodes"] if node["id"] == c3)["comment"] == "a corner"
    assert moves(client.done("resume")) == ["a1", "b2"]
    client.done("go", node=c3)
    state = client.done("continue")
    assert not state["is_looking"] and state["tip"] == c3
    state = client.done("promote", node=node_of(state, "b2"))
    assert state["nodes"][1]["move"] == "a1"
    state = client.done("delete", node=c3)
    assert all(node["move"] != "c3" for node in state["nodes"])
    state = client.done("swap")
    state = client.done("resign")
    assert state["ending"]["reason"] == "resigned" and state["can_undo"]


def test_illegal_moves_are_refused_in_one_line(client: Client) -> None:
    client.new("tictactoe", moves=["b2"])
    message, field = client.refused("play", move="b2")
    assert "there is a stone already" in message and "\n" not in message and field == "move"
    assert client.refused("go", node=99)[1] == "node"
    assert client.refused("new", game="chess", first=PERSON, second=PERSON)[1] == "game"
    assert client.refused("new", game="tictactoe", first=PERSON, second=PERSON, moves=["z9"])[1] == "moves"
    message, _ = client.refused("new", game="gomoku9", first=PERSON, second=PERFECT)
    assert "nobody plays gomoku9 perfectly" in message


def test_specs_of_players_never_come_from_outside(client: Client) -> None:
    for seat in (
        {"kind": "zero:runs/secret"},
        {"kind": "level", "level": "engine:cmd=touch x"},
        {"kind": "level", "level": 11},
        {"kind": "level", "level": True},
        {"kind": "level", "level": 5, "spec": "engine:cmd=x"},
        "engine:cmd=x",
    ):
        assert client.refused("new", game="tictactoe", first=PERSON, second=seat)[1] == "second"


def test_the_opponent_replies_by_itself(client: Client) -> None:
    client.new("tictactoe", PERSON, PERFECT)
    state = client.reach(client.done("play", move="b2"), lambda state: len(state["moves"]) == 2)
    assert state["to_move"] == 1 and not state["is_thinking"]
    assert moves(client.done("undo")) == []
    state = client.reach(client.new("connect4", LEVEL, PERSON), lambda state: len(state["moves"]) == 1)
    assert state["seats"][0] == {"name": "level 1", "is_person": False, "kind": "level", "level": 1}
    state = client.reach(client.done("swap"), lambda state: len(state["moves"]) == 2)
    assert state["seats"][1]["level"] == 1


def test_it_does_not_reply_while_the_page_looks_elsewhere(server: Running, client: Client) -> None:
    state = client.new("tictactoe", PERSON, PERFECT, moves=["b2", "a1"])
    state = client.done("go", node=state["nodes"][0]["id"])
    state = client.done("play", move="a2")  # a variation: for either side
    assert not state["is_thinking"] and state["is_looking"]
    assert server.is_idle()
    state = client.reach(
        client.done("continue"), lambda state: len(state["moves"]) == 2
    )  # now it is the game
    assert state["moves"][0] == "a2"


def test_two_engines_play_a_game_to_its_end(client: Client) -> None:
    state = client.reach(client.new("tictactoe", LEVEL, PERFECT), lambda state: state["ending"] is not None)
    assert state["ending"]["reason"] == "board"


def test_a_position_set_up_by_hand(client: Client) -> None:
    cells = [0] * 42
    cells[-1] = 1
    state = client.new("connect4", setup={"cells": cells, "to_move": 2})
    assert state["cells"] == cells and state["to_move"] == 2
    floating = [1] + [0] * 41
    said = client.refused(
        "new", game="connect4", first=PERSON, second=PERSON, setup={"cells": floating, "to_move": 1}
    )
    assert said == ("setup.cells: a stone has nothing below it", "setup")
    said = client.refused(
        "new", game="connect4", first=PERSON, second=PERSON, setup={"cells": [3], "to_move": 1}
    )
    assert said[1] == "setup"


def test_forbidden_points_of_renju_have_a_reason(client: Client) -> None:
    double_four = ["h8", "a1", "i8", "a3", "j8", "a5", "g9", "a7", "g10", "a9", "g11", "b1"]
    state = client.new("renju15", moves=double_four)
    assert "forbidden for black" in state["forbidden"]["g8"] and "four" in state["forbidden"]["g8"]
    assert client.new("gomoku15", moves=double_four)["forbidden"] == {}


def test_clocks_run_and_fall(server: Running, client: Client) -> None:
    state = client.new("tictactoe", clock={"seconds": 60, "increment": 1})
    assert state["clocks"]["first"] == {"left": 60.0, "increment": 1.0}
    server.watch.now += 10
    state = client.done("play", move="b2")
    assert state["clocks"]["first"]["left"] == 51.0 and state["clocks"]["running"] == 2
    server.watch.now += 61
    message, _ = client.refused("play", move="a1")
    assert "lost on time" in message


def test_a_hint_and_its_line(client: Client) -> None:
    client.new("tictactoe", moves=["a1", "b1", "a2", "b2"])
    hint = client.ask("hint")
    assert hint["move"] == "a3" and hint["value"] > 0.9 and hint["line"][0] == "a3"
    client.new("gomoku9")
    first, second = client.send("hint"), client.send("hint")
    answers = [client.receive() for _ in range(2)]
    assert {answer["id"] for answer in answers} == {first, second}
    assert "error" in {answer["type"] for answer in answers}, "one question at a time"


def test_analysis_starts_follows_the_board_and_stops(server: Running, client: Client) -> None:
    root = client.new("gomoku9")["current"]
    assert client.done("analyse", is_on=True)["analysing"]
    early = client.wait("snapshot")
    assert early["node"] == root and early["snapshot"]["game"] == "gomoku9"
    later = client.wait("snapshot", lambda m: m["snapshot"]["simulations"] > early["snapshot"]["simulations"])
    assert not later["snapshot"]["is_final"] and len(later["snapshot"]["moves"]) == 81
    state = client.done("play", move="e5")
    found = client.wait("snapshot", lambda message: message["node"] == state["current"])
    assert found["snapshot"]["played"] == ["e5"] and found["snapshot"]["to_move"] == 2
    assert not client.done("analyse", is_on=False)["analysing"]
    assert server.is_idle()


def test_connect4_is_solved_beside_its_analysis(server: Running, client: Client) -> None:
    client.new("connect4", moves=list("4444432232334"))
    client.done("analyse", is_on=True)
    found = client.wait("snapshot", lambda message: message["snapshot"].get("exact", []).count(None) == 1)
    assert found["snapshot"]["exact"] == [-4, 4, -3, None, -4, -4, -4]
    client.done("analyse", is_on=False)
    assert server.is_idle()


def test_everything_stops_when_the_page_goes_and_goes_on_when_it_comes_back(server: Running) -> None:
    with server.page() as page:
        state = page.new("gomoku9", moves=["e5"])
        page.done("analyse", is_on=True)
        page.wait("snapshot")
        page.ask("review")
    assert server.is_idle()
    with server.page(page.session) as again:
        assert again.hello["is_restored"] and again.hello["session"] == page.session
        assert again.hello["state"]["moves"] == ["e5"] and again.hello["state"]["analysing"]
        assert again.wait("snapshot")["node"] == state["current"]
    assert server.is_idle()


def test_a_review_finds_a_planted_blunder_and_a_try_must_be_better(client: Client) -> None:
    """The first player has four in a row, plays elsewhere, and loses to the other's five."""
    client.new("gomoku9", moves=["e5", "a1", "e6", "a2", "e7", "a3", "e8", "a4", "i9", "a5"])
    client.ask("review")
    worst = client.wait("reviewed")["worst"]
    state = client.done("resume")
    judged = {node["id"]: node for node in state["nodes"] if node["move"]}
    assert all(node["judgement"] in JUDGEMENTS and -1 <= node["value"] <= 1 for node in judged.values())
    assert 1 <= len(worst) <= 3
    assert (judged[worst[0]]["move"], judged[worst[0]]["judgement"]) == ("i9", "missed win")
    before = judged[worst[0]]["parent"]
    same = client.ask("try", node=before, move="i9")
    assert same["is_accepted"] is False and same["lost"] == same["played_lost"] > 1
    assert client.ask("try", node=before, move="h8")["is_accepted"] is False
    for move in ("e4", "e9"):
        better = client.ask("try", node=before, move=move)
        assert better["is_accepted"] is True and better["lost"] < 0.1
    assert client.refused("try", node=before, move="e5")[1] == "move"
    assert client.refused("try", node=state["tip"], move="a6")[1] == "node"


def test_judgements_are_pushed_one_by_one(client: Client) -> None:
    """After the centre an edge loses."""
    client.new("tictactoe", moves=["b2", "b1", "a1", "c3", "a3", "c1", "a2"])
    client.ask("review")
    first = client.wait("judged")
    assert set(first) == {"type", "node", "move", "judgement", "before", "after", "better", "line"}
    blunder = client.wait("judged")
    assert blunder["move"] == "b1" and blunder["judgement"] == "mistake"
    assert blunder["before"] - blunder["after"] > 0.5 and blunder["better"] in ("a1", "a3", "c1", "c3")
    assert client.wait("reviewed")["worst"][0] == blunder["node"]
    state = client.done("resume")
    start = state["nodes"][1]["id"]
    assert client.ask("try", node=start, move=blunder["better"])["is_accepted"] is True
    tried = client.ask("try", node=start, move="c2")
    assert tried["is_accepted"] is False and tried["lost"] > 0.5 and tried["reply_line"]


def test_a_review_can_be_stopped(server: Running, client: Client) -> None:
    assert client.refused("review")[0] == "there is no game yet: start one"
    client.new("gomoku9")
    assert client.refused("review")[0] == "there are no moves to review"
    client.new("gomoku9", moves=["e5", "a1", "e6", "a2"])
    client.ask("review")
    client.ask("stop_review")
    assert server.is_idle()


def test_files_go_out_and_come_back(client: Client) -> None:
    client.new("gomoku15", moves=["h8", "i9"])
    for form in ("sgf", "psq", "txt"):
        text = client.ask("export", form=form)["text"]
        client.new("tictactoe")
        state = client.done("load", name=f"/etc/../game.{form.upper()}", text=text)
        assert state["game"] == "gomoku15" and state["moves"] == ["h8", "i9"]
        assert all(seat["is_person"] for seat in state["seats"])
    assert client.done("load", name="a.txt", text="h8 h9 i9")["moves"] == ["h8", "h9", "i9"]
    assert client.refused("load", name="a.sgf", text="(;GM[4]")[1] == "text"
    assert client.refused("load", name="/etc/passwd", text="")[1] == "name"
    assert client.refused("load", name="a.sgf", text="x" * 300_000)[1] == "text"
    assert client.refused("export", form="exe")[1] == "form"


def test_a_shared_game_is_opened_by_hello(server: Running, client: Client) -> None:
    client.new("connect4", moves=["4", "4", "3"])
    sgf = client.ask("export", form="sgf")["text"]
    with server.page(sgf=sgf) as other:
        assert other.hello["state"]["moves"] == ["4", "4", "3"] and other.session != client.session
    with server.page(client.session, sgf="nonsense") as again:
        assert again.hello["is_restored"], "a known session comes first"


def test_two_pages_at_once_and_one_page_twice(server: Running, client: Client) -> None:
    with server.page() as other, server.page(client.session) as twin:
        client.new("tictactoe", moves=["a1"])
        assert twin.state()["moves"] == ["a1"]
        other.new("connect4", moves=["4"])
        assert client.done("play", move="b2")["game"] == "tictactoe"
        assert other.done("play", move="4")["moves"] == ["4", "4"]
        assert twin.state(lambda state: len(state["moves"]) == 2)["moves"] == ["a1", "b2"]


def test_one_page_in_too_many_windows_is_refused(
    server: Running, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_WINDOWS", 2)
    with server.page(client.session), server.page(client.session) as third:
        assert third.hello["type"] == "error" and "2 windows already" in third.hello["message"]


def test_a_connection_that_never_says_hello_is_closed(
    server: Running, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.05)
    with (
        connect(f"ws://127.0.0.1:{server.address.port}/ws") as silent,
        pytest.raises(ConnectionClosed, match="no hello"),
    ):
        silent.recv(SECONDS)
    assert client.new("tictactoe")["moves"] == []  # one that has said it stays


def frames(client: Client) -> int:
    gif = base64.b64decode(client.ask("animate")["gif"])
    return len(list(ImageSequence.Iterator(Image.open(io.BytesIO(gif)))))


def test_the_game_is_animated_or_the_variation_that_is_viewed(client: Client) -> None:
    state = client.new("tictactoe", moves=["b2", "a1", "c3"])
    assert frames(client) == 4
    client.done("go", node=node_of(state, "b2"))
    assert frames(client) == 4, "looking back is not taking back"
    client.done("play", move="c1")
    assert frames(client) == 3
    client.done("resume")
    client.done("undo")
    assert frames(client) == 3
    assert client.refused("animate", frames=1)[1] == "frames"


def test_a_level_is_suggested_after_three_games(client: Client) -> None:
    for number in range(3):
        state = client.new("tictactoe", PERSON, {"kind": "level", "level": 5})
        assert state["suggested_level"] is None, number
        state = client.done("resign")
    assert state["suggested_level"] == 3


def leave(server: Running, page: Client) -> None:
    """Closes a connection, and waits until the server has noticed: then its analysis ends."""
    page.new("gomoku9")
    page.done("analyse", is_on=True)
    page.wait("snapshot")
    page.socket.close()
    assert server.is_idle()


def test_idle_pages_expire(server: Running) -> None:
    with server.page() as left, server.page() as stays:
        stays.new("tictactoe", moves=["b2"])
        leave(server, left)
        server.watch.now += 31 * 60
        with server.page(left.session) as again:
            assert not again.hello["is_restored"] and again.hello["state"] is None
        assert stays.done("play", move="a1")["moves"] == ["b2", "a1"], "a connection keeps its page"


def test_a_full_server_says_so() -> None:
    running = Running(most_pages=1)
    try:
        with running.page() as first:
            with running.page() as second:
                assert "the server is full" in second.hello["message"]
            leave(running, first)
        with running.page() as third:  # the first has gone: its place is free
            assert third.hello["type"] == "answer"
    finally:
        running.stop()


def test_an_analysis_waits_if_too_many_are_running() -> None:
    running = Running(num_threads=1)
    try:
        with ExitStack() as stack:
            pages = [
                stack.enter_context(running.page()) for _ in range(4)
            ]  # one runs, two wait, one is too many
            for page in pages:
                page.new("gomoku9")
                page.done("analyse", is_on=True)
            assert "too many people are asking" in pages[3].wait("notice")["message"]
            for page in pages[:3]:
                page.done("analyse", is_on=False)
            assert pages[3].wait("snapshot")["snapshot"]["game"] == "gomoku9"
    finally:
        running.stop()


class Broken(Decider):
    """Cannot move."""

    summary = "for tests"

    def decide(self, position: Position, limit: Limit) -> Choice:
        raise PlayerFailedError("it hurts")


class Wrong(Decider):
    """Has a bug."""

    summary = "for tests"

    def decide(self, position: Position, limit: Limit) -> Choice:
        raise KeyError("a bug")


@pytest.mark.parametrize(("kind", "why"), [("Broken", "it hurts"), ("Wrong", "an error in Tengen")])
def test_an_opponent_that_fails_loses_and_the_page_lives_on(
    client: Client, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    monkeypatch.setitem(players.REGISTRY, "perfect", f"{__name__}:{kind}")
    client.new("tictactoe", PERSON, PERFECT)
    client.ask("play", move="b2")
    assert client.wait("notice")["message"] == f"the opponent could not move: {why}"
    state = client.state(lambda state: state["ending"] is not None)
    assert state["ending"] == {"winner": 1, "reason": "failed", "detail": why}
    assert client.new("tictactoe")["ending"] is None
