"""`tengen analysis`, talked to as other programs do, and the service itself where a process would be too slow."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

import pytest

import tengen
from tengen import cli
from tengen.players.limit import Limit
from tengen.protocols.analysis_service import AnalysisService
from tengen.protocols.lines import MAX_LINE, read_lines
from tengen.protocols.outbox import Outbox
from tests.protocols.talking import PATIENCE, REPOSITORY, Talk, answered

CLIENT = REPOSITORY / "examples" / "analysis_client.py"


def query(ident: str | int, game: str = "tictactoe", **fields: Any) -> dict[str, Any]:
    return {"id": ident, "game": game, "player": "uct", "limit": {"simulations": 50}, **fields}


def served(lines: Iterable[bytes | dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    """What the service answers to these lines and the end, in this process."""
    written: list[str] = []
    service = AnalysisService(written.append, **settings)
    asyncio.run(service.run(one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines))
    return [json.loads(line) for line in "".join(written).splitlines()]


@pytest.fixture
def talk() -> Iterator[Talk]:
    service = Talk("analysis")
    yield service
    service.close()


def send(talk: Talk, *messages: dict[str, Any]) -> None:
    talk.send(*(json.dumps(message) for message in messages))


def until_final(talk: Talk, ident: str | int) -> list[dict[str, Any]]:
    """Everything that is said up to the final result of a query."""
    said: list[dict[str, Any]] = []
    while not said or said[-1]["id"] != ident or not said[-1].get("is_final"):
        said.append(json.loads(talk.line()))
    return said


SCRIPT = [
    {"id": "version", "action": "query_version"},
    query("start"),
    query("moves", moves=["b2", "a1"], includePolicy=True),
    query("setup", setup={"cells": [1, 1, 0, 2, 2, 0, 0, 0, 0], "to_move": 2}),
    query("won", moves=["a1", "b1", "a2", "b2", "a3"]),
    query("default", game="gomoku6", limit=None, player="uniform"),
    b"{",
    b"",
    query("unknown", player="zro"),
    {"id": 7, "action": "terminate", "terminateId": "nobody"},
]  # fmt: skip


def test_a_script_and_its_answers(golden: Callable[[str, str], None]) -> None:
    """Text in, text out. Answers come when they are ready, so they are sorted; times and sizes are left out."""
    said = b"\n".join(one if isinstance(one, bytes) else json.dumps(one).encode() for one in SCRIPT)
    out, errors = answered(["analysis"], said)
    assert errors == ""
    shown = re.sub(r'"(seconds|memory)":[0-9.e-]+', r'"\1":…', out).replace(tengen.__version__, "VERSION")
    golden("analysis.jsonl", "\n".join(sorted(shown.splitlines())) + "\n")


def test_it_answers_as_the_library_does() -> None:
    (answer,) = served([{"id": 1, "game": "connect4", "moves": list("4435"), "limit": {"simulations": 64}}])
    position = tengen.Position.from_moves("connect4", "4435")
    analysis = tengen.analyse(position, Limit(simulations=64), "zero:zoo/connect4:search=puct,memory=128")
    analysis.best  # noqa: B018  (runs it to its end)
    expected = json.loads(json.dumps(analysis.snapshot.to_json()))
    for changing in ("seconds", "memory"):
        del answer[changing], expected[changing]
    assert answer == {"id": 1, **expected}


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    asked = {"game": "connect4", "moves": ["4"], "limit": {"simulations": 100}}
    first, *_, last = sorted(
        served([{"id": 0, **asked}, query(1, "connect4", player=None), {"id": 2, **asked}], num_threads=1),
        key=lambda answer: int(answer["id"]),
    )
    assert [first["value"], first["moves"]] == [last["value"], last["moves"]]


def test_several_queries_at_once_share_one_network() -> None:
    service = AnalysisService(lambda text: None, num_threads=4)
    asked = [
        {"id": number, "game": "connect4", "moves": ["4"] * number, "limit": {"seconds": 0.5}}
        for number in range(4)
    ]
    asyncio.run(service.run(json.dumps(one).encode() for one in asked))
    made = [kept._player for kept in service._players._idle]
    assert len(made) == 4, "they were searched at the same time"
    assert len({id(player.network) for player in made}) == 1  # type: ignore[union-attr]


def test_many_queries_are_all_answered() -> None:
    answers = served(query(number, moves=["b2", "a1"][: number % 3]) for number in range(200))
    assert sorted(answer["id"] for answer in answers) == list(range(200))
    assert all(answer["is_final"] and answer["simulations"] == 50 for answer in answers)


def test_partial_results_and_terminate(talk: Talk) -> None:
    send(talk, query("a", "gomoku9", limit={}, reportEvery=20))
    partial = [json.loads(talk.line()) for _ in range(3)]
    assert all(one["id"] == "a" and one["is_final"] is False for one in partial)
    assert 0 < partial[0]["simulations"] < partial[1]["simulations"] < partial[2]["simulations"]
    send(talk, query("b", "gomoku9", limit={}), {"id": "c", "action": "terminate", "terminateId": "a"})
    said = until_final(talk, "a")
    assert {"id": "c", "action": "terminate", "terminateId": "a"} in said
    assert said[-1]["simulations"] >= partial[2]["simulations"], "what was found so far is the result"
    assert not [one for one in said if one["id"] == "b"], "only the one that was named"
    send(talk, {"id": "d", "action": "terminate_all"})
    assert {"id": "d", "action": "terminate_all"} in until_final(talk, "b")
    send(talk, query("a"))  # the id is free again
    assert until_final(talk, "a")[-1]["simulations"] == 50
    assert talk.close() == 0 and talk.errors == ""


def test_a_query_that_waits_is_terminated_without_results() -> None:
    endless = [query(number, "gomoku9", limit={}) for number in range(3)]
    said = served([*endless, {"id": "t", "action": "terminate", "terminateId": 2}], num_threads=1)
    assert {"id": 2, "is_final": True, "no_results": True} in said
    assert [one["id"] for one in said if one.get("is_final")].count(2) == 1


def test_at_the_end_queries_with_a_limit_are_finished_and_endless_ones_stopped() -> None:
    asked = [query("limited", "gomoku9", limit={"simulations": 3000}), query("endless", "gomoku9", limit={})]
    limited, endless = sorted(served(asked), key=lambda answer: str(answer["id"]), reverse=True)
    assert limited["simulations"] == 3000 and endless["id"] == "endless" and endless["is_final"]
    impatient = served([query("long", "gomoku9", limit={"seconds": 3600})], is_patient=False)
    assert [one["id"] for one in impatient] == ["long"]


def test_the_policy_is_listed_by_action() -> None:
    asked = {"id": 1, "game": "connect4", "moves": ["4"] * 6, "limit": {"simulations": 20}}
    with_policy, without = served([{**asked, "includePolicy": True}, {**asked, "id": 2}], num_threads=1)
    assert "policy" not in without
    assert with_policy["policy"][3] is None and len(with_policy["policy"]) == 7, "column 4 is full"
    assert sum(prior or 0 for prior in with_policy["policy"]) == pytest.approx(1, abs=0.01)
    priors = {info["move"]: info["prior"] for info in with_policy["moves"]}
    assert all(
        priors[str(column + 1)] == prior for column, prior in enumerate(with_policy["policy"]) if prior
    )


MISTAKES: list[tuple[Any, str | int | None, str | None, str]] = [  # line, id, field, words
    (b"rubbish", None, None, "not JSON"),
    (b'{"id": 1', None, None, "not JSON"),
    (b"\x00\xff\xfe", None, None, "not JSON"),
    (b'{"id": NaN}', None, None, "NaN is not a number"),
    (b"[" * 100_000, None, None, "nested too deeply"),
    (b'{"id": 1' + b"0" * 5000 + b"}", None, None, "not JSON"),
    (b'"' + b"x" * MAX_LINE + b'"', None, None, "at most 1048576 bytes"),
    (b"[]", None, None, "a query is an object with fields, got []"),
    (b"7", None, None, "a query is an object with fields, got 7"),
    ({"game": "tictactoe"}, None, "id", "id is a text of up to 200 characters, or a whole number from 0 to 2^53 - 1, and is missing"),
    ({"id": -1, "game": "tictactoe"}, None, "id", "got -1"),
    ({"id": True, "game": "tictactoe"}, None, "id", "got True"),
    ({"id": "x" * 201, "game": "tictactoe"}, None, "id", "got 'xxxx"),
    ({"id": 1, "gaem": "tictactoe"}, 1, "gaem", "unknown field 'gaem', did you mean game?"),
    ({"id": 1, "hours": 1}, 1, "hours", "known are id, game, moves, setup, limit, player, includePolicy, reportEvery"),
    ({"id": 1}, 1, "game", "game is a name of 1 to 80 characters, got None"),
    (query(1, "tictacto"), 1, "game", "unknown game 'tictacto', did you mean tictactoe?"),
    (query(1, "mnk:rows=99999999999999999999"), 1, "game", "rows is 1-26"),
    (query(1, moves="b2"), 1, "moves", "a list of moves as text"),
    (query(1, moves=["b2", "b2"]), 1, "moves", "illegal move 'b2' in tictactoe: there is a stone already"),
    (query(1, moves=["a1"] * 1001), 1, "moves", "at most 1000 moves"),
    (query(1, setup={"cells": [1] * 9, "to_move": 1}), 1, "moves", "the game is over"),
    (query(1, setup={"cells": [0] * 8, "to_move": 1}), 1, "setup", "9 cells"),
    (query(1, limit={"hours": 1}), 1, "limit", "unknown field limit.'hours'"),
    (query(1, limit={"simulations": 10**30}), 1, "limit", "at most 1e+08"),
    (query(1, limit={"seconds": 1e300}), 1, "limit", "at most 3600"),
    (b'{"id":1,"game":"tictactoe","limit":{"seconds":1e999}}', 1, "limit", "a number, got inf"),
    (query(1, limit=5), 1, "limit", "limit is an object with fields, got 5"),
    (query(1, player=5), 1, "player", "player is a spec"),
    (query(1, player=""), 1, "player", "player is a spec"),
    (query(1, player="zro"), 1, "player", "unknown player 'zro', did you mean zero?"),
    (query(1, player="human"), 1, "player", "a query cannot ask player 'human'"),
    (query(1, player="engine:cmd=touch /tmp/x"), 1, "player", "a query cannot ask player 'engine'"),
    (query(1, player="uct:memory=99"), 1, "player", "set by --memory"),
    (query(1, player="uct:sims=x"), 1, "player", "sims is a whole number, got 'x'"),
    (query(1, "connect4", player="alphabeta"), 1, "player", "alphabeta"),
    (query(1, player="zero:/no/such/folder"), 1, "player", "no network in /no/such/folder"),
    (query(1, player="zero:" + "/x" * 90), 1, "player", "no network in /x/x"),
    (query(1, includePolicy=1), 1, "includePolicy", "true or false, got 1"),
    (query(1, reportEvery=0), 1, "reportEvery", "10 to 3600000, got 0"),
    (query(1, reportEvery="1"), 1, "reportEvery", "got '1'"),
    (b'{"id":1,"game":"tictactoe","reportEvery":1e999}', 1, "reportEvery", "got inf"),
    ({"id": 1, "action": "terminat"}, 1, "action", "unknown action 'terminat', did you mean terminate?"),
    ({"id": 1, "action": 3}, 1, "action", "known are terminate, terminate_all, query_version"),
    ({"id": 1, "action": "terminate"}, 1, "terminateId", "and is missing"),
    ({"id": 1, "action": "terminate_all", "game": "tictactoe"}, 1, "game", "unknown field 'game'"),
]  # fmt: skip


def test_a_mistake_is_answered_by_one_line_that_names_the_field(talk: Talk) -> None:
    for line, ident, field, words in MISTAKES:
        talk.send(line if isinstance(line, bytes) else json.dumps(line))
        answer = json.loads(talk.line())
        assert list(answer) == ["id", "error", "field"], (line, answer)
        assert answer["id"] == ident and answer["field"] == field, (line[:80], answer)
        assert words in answer["error"] and "\n" not in answer["error"], answer
    send(talk, query("still there"))
    assert until_final(talk, "still there")[-1]["best"]
    assert talk.close() == 0 and talk.errors == ""


def test_an_id_that_is_not_free_is_refused() -> None:
    said = served([query("a", "gomoku9", limit={}), query("a")])
    assert {
        "id": "a",
        "error": "query 'a' is not finished: choose another id, or wait",
        "field": "id",
    } in said
    assert len(said) == 2


def test_half_a_character_comes_back_as_it_came() -> None:
    out, _ = answered(["analysis"], b'{"id": "\\ud800\xc3\xa9", "action": "query_version"}')
    assert json.loads(out)["id"] == "\ud800é"


def test_the_input_may_end_anywhere() -> None:
    said = b"\n".join(json.dumps(one).encode() for one in SCRIPT if isinstance(one, dict)) + b"\n"
    for end in range(0, len(said), 13):
        lines = [line for line in said[:end].split(b"\n") if line]
        answers = served(lines)
        assert len(answers) == len(lines), said[:end]


def test_a_program_that_reads_slowly_gets_fewer_partial_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service goes on to read and to search while nobody takes its answers."""
    is_reading, has_found_much, found, written = (
        threading.Event(),
        threading.Event(),
        list[Any](),
        list[str](),
    )
    put = Outbox.put

    def counting_put(outbox: Outbox, message: dict[str, Any], topic: object = None) -> None:
        put(outbox, message, topic)
        if message["id"] == "a":
            found.append(message)
        if len(found) == 5:
            has_found_much.set()

    def write(text: str) -> None:
        assert is_reading.wait(PATIENCE)
        written.append(text)

    def asked() -> Iterator[bytes]:
        yield b"rubbish"  # its answer blocks the writer
        yield json.dumps(query("a", "gomoku9", limit={}, reportEvery=10)).encode()
        assert has_found_much.wait(PATIENCE)
        is_reading.set()

    monkeypatch.setattr(Outbox, "put", counting_put)
    asyncio.run(AnalysisService(write).run(asked()))
    said = [json.loads(line) for line in "".join(written).splitlines()]
    assert said[0]["id"] is None and said[-1]["id"] == "a" and said[-1]["is_final"]
    assert len(said) - 1 <= len(found) - 4, "only the latest of the first five was still worth sending"


def test_the_outbox_replaces_what_is_out_of_date() -> None:
    async def scenario() -> list[str]:
        outbox, topic = Outbox(), object()
        for number in range(5):
            outbox.put({"id": "a", "number": number}, topic)
            outbox.put({"id": "b", "number": number})
        outbox.close()
        taken = await outbox.take_several()
        assert await outbox.take_several() == []
        return taken

    taken = [json.loads(one) for one in asyncio.run(scenario())]
    assert [one["number"] for one in taken if one["id"] == "b"] == [0, 1, 2, 3, 4]
    assert [one["number"] for one in taken if one["id"] == "a"] == [4]


@pytest.mark.parametrize("is_pipe", [True, False])
def test_lines_are_cut_and_their_ends_removed(is_pipe: bool) -> None:
    said = b"one\r\ntwo\n\n" + b"x" * (3 * MAX_LINE) + b"\nlast"
    stream: TextIO = io.TextIOWrapper(io.BytesIO(said))
    if is_pipe:
        out, into = os.pipe()

        def write() -> None:
            with open(into, "wb") as file:
                file.write(said)

        threading.Thread(target=write).start()
        stream = open(out, encoding="utf-8")  # noqa: SIM115
    with stream:
        found = list(read_lines(stream))
    assert found[:3] == [b"one", b"two", b""] and found[4:] == [b"last"]
    assert len(found[3]) == MAX_LINE + 1


def test_ctrl_c_ends_it_in_the_middle_of_a_search(talk: Talk) -> None:
    send(talk, query("a", "gomoku9", limit={}, reportEvery=20))
    talk.line()
    talk.process.send_signal(signal.SIGINT)
    assert talk.close() == 130
    assert talk.errors.strip() == "tengen: stopped"


def test_it_ends_when_nobody_takes_the_answers() -> None:
    service = subprocess.Popen(
        [sys.executable, "-m", "tengen", "analysis"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert service.stdin and service.stdout and service.stderr
    service.stdout.close()
    service.stdin.write(json.dumps(query("a", "gomoku9", limit={}, reportEvery=10)).encode() + b"\n")
    service.stdin.flush()
    assert service.wait(PATIENCE) == 1
    assert service.stderr.read() == b""
    service.stdin.close()
    service.stderr.close()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("zzz", "unknown player 'zzz'"),
        ("human", "needs a keyboard"),
        ("zero:zoo/connect4:memory=1", "--memory"),
    ],
)
def test_the_command_refuses_players_that_cannot_serve(
    spec: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["analysis", "--player", spec]) == 2
    out, errors = capsys.readouterr()
    assert out == "" and words in errors and errors.count("\n") == 1


def test_the_client_of_the_documentation_runs() -> None:
    page = (REPOSITORY / "docs" / "analysis.md").read_text(encoding="utf-8")
    code = CLIENT.read_text(encoding="utf-8")
    assert code.partition('"""\n\n')[2] in page, "the page shows the example"
    assert len(code.splitlines()) <= 25
    done = subprocess.run(
        [sys.executable, CLIENT], capture_output=True, text=True, timeout=100, cwd=REPOSITORY
    )
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 9, done.stderr
    assert done.stdout.startswith("the start: best 4, value +")
