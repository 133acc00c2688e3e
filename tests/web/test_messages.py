"""Messages that are wrong: always one error, never a traceback, and the connection lives."""

import json
import random
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.web.conftest import PERSON, Client, Running

KINDS = [
    "hello",
    "new",
    "play",
    "undo",
    "redo",
    "resign",
    "swap",
    "resume",
    "continue",
    "go",
    "promote",
    "delete",
    "comment",
    "hint",
    "analyse",
    "review",
    "stop_review",
    "try",
    "load",
    "export",
    "animate",
]


def said(page: Client, text: str | bytes) -> dict[str, Any]:
    """What comes back for a raw message."""
    page.socket.send(text)
    while (message := page.receive())["type"] not in ("error", "answer"):
        pass
    return message


@pytest.mark.parametrize(
    ("text", "number", "field", "words"),
    [
        ("", None, None, "not JSON"),
        ("{", None, None, "not JSON"),
        ("[" * 5000, None, None, "not JSON"),
        ('{"id": NaN}', None, None, "not JSON"),
        (b"\xff\xfe", None, None, "not JSON"),
        ("[]", None, None, "a message is an object"),
        ("{}", None, "type", "unknown type None"),
        ('{"id": 7}', 7, "type", "unknown type None"),
        ('{"id": 7, "type": "pley"}', 7, "type", "did you mean play?"),
        ('{"id": 7, "type": ["play"]}', 7, "type", "unknown type ['play']"),
        ('{"type": "play", "move": "b2"}', None, "id", "the field id is missing"),
        ('{"id": -1, "type": "undo"}', None, "id", "greater than or equal to 0"),
        ('{"id": true, "type": "undo"}', None, "id", "valid integer"),
        ('{"id": 7, "type": "play"}', 7, "move", "play: the field move is missing"),
        ('{"id": 7, "type": "play", "move": 3}', 7, "move", "valid string, got 3"),
        ('{"id": 7, "type": "play", "move": "' + "x" * 17 + '"}', 7, "move", "at most 16 characters"),
        ('{"id": 7, "type": "undo", "move": "b2"}', 7, "move", "undo has no field move: it takes none"),
        ('{"id": 7, "type": "go", "nod": 1}', 7, "node", "the field node is missing"),
        ('{"id": 7, "type": "go", "node": 1e400}', 7, "node", "valid integer"),
        ('{"id": 7, "type": "analyse", "is_on": 1}', 7, "is_on", "valid boolean"),
        ('{"id": 7, "type": "new", "game": "hex7", "first": {}, "second": {}}', 7, "first", "tag"),
    ],
)  # fmt: skip
def test_a_wrong_message_is_answered_with_one_line(
    client: Client, text: str | bytes, number: int | None, field: str | None, words: str
) -> None:
    error = said(client, text)
    assert (error["type"], error["id"], error["field"]) == ("error", number, field), error
    assert words in error["message"] and "\n" not in error["message"] and len(error["message"]) < 400
    assert client.new("tictactoe")["moves"] == []


def test_a_message_that_is_much_too_long_closes_the_connection(server: Running) -> None:
    with server.page() as page:
        page.socket.send("x" * (2**20 + 1))
        with pytest.raises(ConnectionClosed):
            page.receive()
    with server.page() as other:
        assert other.new("tictactoe")["moves"] == []


def junk(random: random.Random, depth: int = 0) -> Any:
    """A value of any kind."""
    simple = [
        None,
        True,
        -1,
        0,
        1,
        2**63,
        10**30,
        0.5,
        "",
        "b2",
        "4",
        "\x00",
        "é" * 50,
        "tictactoe",
        "person",
        "../x",
    ]
    if depth < 3 and random.random() < 0.3:
        if random.random() < 0.5:
            return [junk(random, depth + 1) for _ in range(random.randrange(4))]
        return {str(junk(random, 3)): junk(random, depth + 1) for _ in range(random.randrange(4))}
    return random.choice(simple)


def test_hundreds_of_malformed_messages_do_no_harm(
    server: Running, client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(8)
    names = [
        "move",
        "node",
        "text",
        "name",
        "form",
        "is_on",
        "game",
        "first",
        "second",
        "moves",
        "setup",
        "clock",
        "x",
    ]
    client.new("tictactoe", moves=["b2"])
    for number in range(500):
        fields = {chance.choice(names): junk(chance) for _ in range(chance.randrange(4))}
        message: Any = {"id": 1000 + number, "type": chance.choice(KINDS), **fields}
        text = json.dumps(message)
        if chance.random() < 0.3:
            cut = chance.randrange(len(text))
            text = text[:cut] + chance.choice(["", "\\", '"', "}", "\ud7ff", "0"]) + text[cut + 1 :]
        answer = said(client, text)
        assert answer["type"] == "answer" or ("\n" not in answer["message"]), (text, answer)
    client.ask("analyse", is_on=False)
    client.ask("stop_review")
    assert client.new("tictactoe", PERSON, {"kind": "perfect"}, moves=["b2", "a1"])["to_move"] == 1
    assert server.is_idle()
    assert "Traceback" not in capfd.readouterr().err
