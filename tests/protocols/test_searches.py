"""The pool of threads: bounded, cancelled within a slice, and empty afterwards. No server in here."""

import asyncio
import threading

import pytest

from tengen import games
from tengen.errors import UserError
from tengen.games.position import Position
from tengen.players.limit import Limit
from tengen.players.uct import UctPlayer
from tengen.protocols import kept_players
from tengen.protocols.kept_players import PlayerStore, with_memory
from tengen.protocols.outbox import Outbox
from tengen.protocols.searches import Lane, Search, ServerFullError


def test_a_full_lane_says_so_at_once() -> None:
    async def scenario() -> None:
        lane, free = Lane("test", num_threads=1, num_waiting=1), threading.Event()
        tasks = [asyncio.create_task(lane.run(lambda _: free.wait(60), seconds=60)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ServerFullError, match="try again a little later"):
            await lane.run(lambda _: None, seconds=1)
        free.set()
        assert await asyncio.gather(*tasks) == [True, True]
        assert await lane.run(lambda _: 7, seconds=1) == 7
        lane.close()

    asyncio.run(scenario())


def test_a_cancelled_search_ends_and_its_thread_is_free() -> None:
    async def scenario() -> None:
        lane, began = Lane("test", num_threads=1, num_waiting=4), asyncio.Event()
        position, told = Position.start("tictactoe"), list[object]()

        def endless(search: Search) -> None:
            search.tell(began.set)
            player = UctPlayer(games.find("gomoku9"), memory=4)
            for snapshot in search.snapshots(player, Position.start("gomoku9"), Limit()):
                search.tell(told.append, snapshot)

        running = asyncio.create_task(lane.run(endless, seconds=60))
        waiting = asyncio.create_task(lane.run(lambda search: search.choose, seconds=60))
        await began.wait()
        waiting.cancel()
        running.cancel()
        results = await asyncio.gather(running, waiting, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        assert await asyncio.to_thread(lane.wait_until_idle, 30)
        num_told = len(told)
        assert await lane.run(lambda _: position.to_move, seconds=1) == 1
        assert len(told) == num_told, "nothing comes after the end"
        lane.close()
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("tengen-test")]

    asyncio.run(scenario())


def test_when_the_time_is_up_the_best_move_so_far_counts() -> None:
    async def scenario() -> int:
        lane, position = Lane("test", num_threads=1, num_waiting=1), Position.start("tictactoe")
        player = UctPlayer(games.find("gomoku9"), memory=4)
        board = Position.start("gomoku9")
        choice = await lane.run(lambda search: search.choose(player, board, Limit()), seconds=0.05)
        lane.close()
        assert position.to_move == 1
        return choice.action

    assert 0 <= asyncio.run(scenario()) < 81


def test_players_are_made_late_and_closed_when_others_need_the_memory() -> None:
    store, game = PlayerStore(256), games.find("tictactoe")
    players = [store.reserve("uct:sims=10", game, kept_players.ADVISER) for _ in range(20)]
    assert store.used == 0 and players[0].memory == 16
    for player in players:
        player.new_game(3)
        with player.taken() as ready:
            assert ready.choose(Position.start(game)).action in range(9)
        assert store.used <= 256
    assert store.used == 256
    with players[0].taken() as ready:  # was closed, is made again
        players[0].close()  # the page has gone, but this thread still uses it
        assert ready.choose(Position.start(game)).action in range(9)
    for player in players:
        player.close()
    assert store.used == 0


def test_a_player_that_cannot_be_made_takes_no_memory() -> None:
    store = PlayerStore(256)
    player = store.reserve("perfect", games.find("gomoku9"), kept_players.SEAT)
    with pytest.raises(UserError, match="player 'perfect' plays connect4"), player.taken():
        pass
    assert store.used == 0
    with pytest.raises(UserError, match="256 MiB or more, got 1"):
        PlayerStore(1)


def test_specs_with_memory() -> None:
    assert with_memory("uct", 4) == "uct:memory=4"
    assert with_memory("zero:zoo/x:search=puct", 4) == "zero:zoo/x:search=puct,memory=4"
    assert with_memory("uniform", 4) == "uniform"


def test_a_slow_page_gets_only_the_last_snapshot() -> None:
    async def scenario() -> list[str]:
        outbox = Outbox()
        for number in range(100):
            outbox.put({"type": "snapshot", "number": number})
            outbox.put({"type": "state", "number": number})
        outbox.put({"id": 1, "type": "answer"})
        return [await outbox.take() for _ in range(3)]

    assert asyncio.run(scenario()) == [
        '{"type":"snapshot","number":99}', '{"type":"state","number":99}', '{"id":1,"type":"answer"}',
    ]  # fmt: skip
