"""The Gomocup protocol: conversations and malformed input."""

import pytest

from tests.protocols.gomocup_talk import Manager, converse

CONVERSATIONS = {
    "a game": """
        > ABOUT
        < name="Tengen", version="…", author="…", country="…"
        > START 15
        < OK
        > INFO timeout_turn 100
        > INFO rule 0
        > INFO nobody knows_this
        > BEGIN
        < 7,7
        > TURN 8,8
        < …,…
        > RESTART
        < OK
        > BEGIN
        < 7,7
        """,
    "lower case, spaces, empty lines": """
        >
        >   start   20
        < OK
        >
        > info TIMEOUT_TURN 100
        > turn 10 , 10
        < …,…
        > about
        < name="Tengen", …
        """,
    "the manager does not wait": """
        > START 15
        > INFO timeout_turn 100
        > BOARD
        > DONE
        < OK
        < 7,7
        """,
    "a board": """
        > START 15
        < OK
        > INFO timeout_turn 100
        > BOARD
        > 7,7,1
        > 0,0,2
        > 8,7,1
        > 0,2,2
        > 9,7,1
        > 0,4,2
        > 10,7,1
        > 0,6,2
        > DONE
        < …,7
        > BOARD
        > 0,0,2
        > 5,5,1
        > INFO time_left 1000
        > 1,0,2
        > 6,5,1
        > 2,0,2
        > 7,9,1
        > 3,0,2
        > DONE
        < 4,0
        """,
    "a row of a continuous game": """
        > START 15
        < OK
        > INFO rule 2
        > INFO timeout_turn 100
        > BOARD
        > 3,7,3
        > 4,7,3
        > 5,7,3
        > 6,7,3
        > 7,7,3
        > 8,8,2
        > DONE
        < …,…
        """,
    "taking back": """
        > START 15
        < OK
        > INFO timeout_turn 100
        > BEGIN
        < 7,7
        > TAKEBACK 7,7
        < OK
        > TAKEBACK 7,7
        < ERROR there is no stone at 7,7
        > BEGIN
        < 7,7
        > PLAY 3,4
        < 3,4
        > PLAY 3,4
        < ERROR there is a stone at 3,4 already
        """,
    "rectangles": """
        > RECTSTART 20,10
        < OK
        > TURN 19,9
        < …,…
        > TURN 9,10
        < ERROR points are from 0,0 to 19,9, got 9,10
        > START 15 15
        < OK
        > START 5
        < OK
        > START 22
        < OK
        """,
    "swap2": """
        > START 15
        < OK
        > INFO timeout_turn 200
        > SWAP2BOARD
        > DONE
        < …,… …,… …,…
        > SWAP2BOARD
        > 7,7
        > 14,14
        > 8,7
        > DONE
        < SWAP
        > SWAP2BOARD
        > 7,7
        > 8,8
        > DONE
        < ERROR SWAP2BOARD: there are 0, 3 or 5 stones, got 2
        > SWAP2BOARD
        > 7,7
        > 14,14
        > 8,7
        > 0,14
        > 9,7
        > DONE
        < SWAP
        """,
    "forbidden points": """
        > START 15
        < OK
        > INFO rule 4
        > YXBOARD
        > 7,5,1
        > 0,0,2
        > 8,5,1
        > 0,14,2
        > 9,3,1
        > 14,0,2
        > 9,4,1
        > 14,14,2
        > -1,-1,1
        > DONE
        > YXSHOWFORBID
        < FORBID 0905.
        > INFO rule 0
        > YXSHOWFORBID
        < FORBID .
        """,
    "Yixin-Board": """
        > yxshowinfo
        > INFO rule 2
        > INFO max_node 1000
        > INFO timeout_turn 2000000
        > start 15 12
        > board
        > 14,0,2
        > done
        < OK
        < MESSAGE REALTIME REFRESH
        < MESSAGE REALTIME POS …,…
        < MESSAGE REALTIME BEST …,…
        < MESSAGE REALTIME VAL …
        < MESSAGE REALTIME PV […,…]
        < MESSAGE …
        < …,…
        > yxshowforbid
        < FORBID .
        > turn 14,12
        < ERROR points are from 0,0 to 14,11, got 14,12
        > yxblockreset
        < UNKNOWN yxblockreset
        > info show_detail 0
        > yxnbest 1
        < MESSAGE value …
        < …,…
        """,
    "before START": """
        > BEGIN
        < ERROR there is no board: START comes first
        > BOARD
        < ERROR there is no board: START comes first
        > RESTART
        < ERROR there is no board: START comes first
        > STOP
        > INFO rule 4
        > ABOUT
        < name="Tengen", …
        """,
    "malformed": """
        > START 4
        < ERROR boards are from 5 to 22, got 4
        > START 23
        < ERROR boards are from 5 to 22, got 23
        > START fifteen
        < ERROR expected a size such as START 15, got 'fifteen'
        > START 15,15,15
        < ERROR expected a size…
        > START 99999999999999999999
        < ERROR expected a size…
        > START
        < ERROR expected a size…
        > RECTSTART 15
        < ERROR expected columns and rows such as RECTSTART 20,15, got '15'
        > START 15
        < OK
        > INFO timeout_turn 100
        > JUMP 7,7
        < UNKNOWN JUMP 7,7
        > TURN
        < ERROR expected a point such as 7,7, got ''
        > TURN 7
        < ERROR expected a point such as 7,7, got '7'
        > TURN 7;7
        < ERROR expected a point such as 7,7, got '7;7'
        > TURN 15,0
        < ERROR points are from 0,0 to 14,14, got 15,0
        > TURN -1,0
        < ERROR points are from 0,0 to 14,14, got -1,0
        > TURN 99999999999999999999,0
        < ERROR expected a point…
        > TURN 7.5,7
        < ERROR expected a point…
        > DONE
        < ERROR DONE ends BOARD, which has not come
        > BEGIN
        < 7,7
        > BEGIN
        < ERROR BEGIN is for an empty board, there are 1 stones
        > TURN 7,7
        < ERROR there is a stone at 7,7 already
        > INFO
        > INFO timeout_turn soon
        < DEBUG INFO timeout_turn is a whole number
        > INFO rule 64
        < DEBUG INFO rule 64 is unknown: still freestyle
        > INFO timeout_turn 100000000000000000000000000000
        > INFO timeout_turn 100
        > TURN 8,8
        < …,…
        """,
    "malformed boards leave the position as it was": """
        > START 15
        < OK
        > INFO timeout_turn 100
        > BEGIN
        < 7,7
        > BOARD
        > 7,7,1
        > 7,7,2
        > DONE
        < ERROR BOARD: there is a stone at 7,7 already
        > BOARD
        > 7,7
        > 8,8,9
        > DONE
        < ERROR BOARD: expected a stone such as 7,7,1, or DONE, got '7,7'
        > BOARD
        > 8,8,9
        > DONE
        < ERROR BOARD: a stone is 1 (yours), 2 (the opponent's) or 3, got 9
        > BOARD
        > 3,3,2
        > ABOUT
        < ERROR BOARD was not ended by DONE
        < name="Tengen", …
        > TURN 7,7
        < ERROR there is a stone at 7,7 already
        > TURN 3,3
        < …,…
        """,
}


@pytest.mark.parametrize("script", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_conversations(script: str) -> None:
    converse(script)


def test_yixin_board_sees_the_search() -> None:
    with Manager("zero") as manager:
        manager.send("yxshowinfo", "INFO timeout_turn 2000000", "INFO max_node 300", "start 15")
        assert manager.answer() == "OK"
        manager.send("board", "7,6,2", "done")
        lines = [manager.heard()]
        while lines[-1].startswith("MESSAGE"):
            lines.append(manager.heard())
        best = [line for line in lines if line.startswith("MESSAGE REALTIME BEST ")][-1]
        assert best == f"MESSAGE REALTIME BEST {lines[-1]}"  # row,column, as our move
        assert sum(line.startswith("MESSAGE REALTIME POS ") for line in lines) >= 5
        manager.send("yxnbest 3", "yxstop")
        lines = []
        while not (line := manager.heard())[0].isdigit():
            lines.append(line)
        assert [line[:11] for line in lines[-4:-1]] == ["MESSAGE (1)", "MESSAGE (2)", "MESSAGE (3)"]


def test_a_row_on_the_board_is_answered_all_the_same() -> None:
    """A manager that plays on after five in a row gets moves, until the board is full."""
    with Manager() as manager:
        manager.send("START 5", "INFO timeout_turn 50")
        assert manager.answer() == "OK"
        taken = {manager.move("BEGIN")}
        while len(taken) < 23:
            theirs = next((x, y) for y in range(5) for x in range(5) if (x, y) not in taken)
            ours = manager.move(f"TURN {theirs[0]},{theirs[1]}")
            assert ours not in taken and ours != theirs
            taken |= {theirs, ours}
        left = [(x, y) for y in range(5) for x in range(5) if (x, y) not in taken]
        assert manager.move(f"TURN {left[0][0]},{left[0][1]}") == left[1]
        manager.send("YXNBEST 1")
        assert manager.answer() == "ERROR the board is full: there is no move left"


def test_a_refused_player_is_an_error() -> None:
    with Manager("zero:zoo/gomoku6:sims=1,precision=fp32,threads=2") as manager:
        manager.send("START 15")
        assert manager.answer() == "OK"
    with Manager("perfect") as manager:
        manager.send("START 15")
        assert manager.answer().startswith("ERROR player 'perfect' plays")
        manager.send("INFO timeout_turn 100")
        assert manager.move("BEGIN") == (7, 7)  # it plays on without


def test_binary_rubbish_is_unknown_in_one_line() -> None:
    with Manager() as manager:
        manager.send(bytes(range(256)).replace(b"\n", b""), b"\xff" * 100_000, "ABOUT")
        for _ in range(2):
            line = manager.answer()
            assert line.startswith("UNKNOWN ") and line.isascii() and line.isprintable() and len(line) < 80
        assert manager.answer().startswith("name=")


def test_it_ends_wherever_the_input_ends() -> None:
    whole = "\n".join(
        line.strip()[2:]
        for name in ("a board", "swap2")
        for line in CONVERSATIONS[name].splitlines()
        if line.strip().startswith(">")
    )
    for place in range(0, len(whole), 11):
        manager = Manager()
        manager.send(*whole[:place].encode().split(b"\n"))
        manager.close()
        manager.wait()
