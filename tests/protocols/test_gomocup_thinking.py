"""The Gomocup protocol while a move is due: what is heard, what waits, limits, and the referee's checks."""

from tengen import games
from tengen.games.position import Position
from tests.protocols.gomocup_talk import Manager


def test_a_search_is_stopped_and_other_lines_wait_for_its_move() -> None:
    with Manager("zero") as manager:
        manager.send("START 15", "INFO timeout_turn 3600000")
        assert manager.answer() == "OK"
        manager.send("BEGIN", "INFO time_left 100000", "ABOUT", "NONSENSE", "TURN 0,0", "STOP")
        x, y = manager.move()
        assert manager.answer().startswith("name=")
        assert manager.answer() == "UNKNOWN NONSENSE"
        _, seconds = manager.timed_move("YXSTOP")  # the answer to TURN
        assert seconds < 2
        manager.send(f"TAKEBACK {x},{y}")
        assert manager.answer() == "OK"


def test_what_is_told_while_thinking_is_known_afterwards() -> None:
    with Manager() as manager:
        manager.send("START 15")
        assert manager.answer() == "OK"
        manager.send("INFO rule 4", "INFO timeout_turn 100", "BEGIN", "INFO rule 1", "YXSHOWFORBID")
        assert manager.move() == (7, 7)
        assert manager.answer() == "FORBID ."


def test_end_ends_a_search_at_once_and_without_a_move() -> None:
    manager = Manager("zero")
    manager.send("START 15", "INFO timeout_turn 3600000")
    assert manager.answer() == "OK"
    manager.send("BEGIN", "TURN 3,3", "END")
    manager.wait()
    assert manager._said.empty()


def test_a_search_without_end_answers_when_nothing_more_can_be_read() -> None:
    manager = Manager("zero")
    manager.send("START 15", "INFO timeout_turn 3600000", "BEGIN", "ABOUT")
    manager.close()
    manager.wait()
    assert manager.answer() == "OK"
    manager.move()
    assert manager.answer().startswith("name=")


def test_limits_are_obeyed() -> None:
    with Manager("alphabeta") as manager:
        manager.send("START 15", "INFO timeout_turn 3600000", "INFO max_depth 2")
        assert manager.answer() == "OK"
        manager.send("TURN 7,7")
        assert "depth 2," in manager.heard()
        manager.move()
        manager.send("INFO max_depth 0", "INFO max_node 500", "TURN 0,0")
        assert "depth" in manager.heard()
        manager.move()
    with Manager("zero") as manager:
        manager.send("START 15", "INFO timeout_turn 3600000", "INFO max_node 50", "INFO max_depth 3")
        assert manager.answer() == "OK"
        manager.send("TURN 7,7")
        assert manager.heard() == "MESSAGE max_depth is ignored: zero has no such limit"
        assert "50 simulations" in manager.heard()
        manager.move()


CHECKS = [  # the referee's: a rule, the moves, which answers pass
    (0, "h8h9i8i9j8j9k8k9", {"g8", "l8"}),
    (1, "h8h9i8i9j8j9k8k9", {"g8", "l8"}),
    (4, "h8h9i8i9j8j9k8k9", {"g8", "l8"}),
    (8, "h8h9i8i9j8j9k8k9", {"g8", "l8"}),
    (9, "h8h9i8i9j8j9k8k9", {"g8", "l8"}),
    (1, "h8h9i8h10g8h11j13h12g14h14i15", {"f8", "j8"}),
    (4, "h8h9i7i9h10i6i11i12", None),
    (8, "h8f8g8f9i8f7j8l8", {"f5", "f6", "f10", "f11"}),
]
RULES = {0: "gomoku15", 1: "standard15", 4: "renju15", 8: "caro15", 9: "caro15-exact"}


def test_the_referees_check_positions() -> None:
    with Manager(player=None) as manager:
        for rule, moves, passes in CHECKS:
            position = Position.from_moves(RULES[rule], moves)
            points = [divmod(action, 15)[::-1] for action in position.actions]
            owners = [1 if (len(points) - i) % 2 == 0 else 2 for i in range(len(points))]
            stones = [f"{x},{y},{owner}" for (x, y), owner in zip(points, owners, strict=True)]
            manager.send("START 15", f"INFO rule {rule}", "INFO timeout_turn 1200")
            assert manager.answer() == "OK"
            (x, y), seconds = manager.timed_move("BOARD", *stones, "DONE")
            move = games.find("gomoku15").moves.name(15 * y + x)
            assert seconds < 5
            assert move in passes if passes else move != "g9", f"rule {rule}, {moves}: {move}"
