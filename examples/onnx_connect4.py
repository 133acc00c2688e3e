"""Connect 4 against a network, with ONNX Runtime and numpy alone. The network plays without a search."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

BUNDLED = Path(__file__).parents[1] / "src" / "tengen" / "zoo" / "connect4" / "net.onnx"

session = onnxruntime.InferenceSession(sys.argv[1] if len(sys.argv) > 1 else str(BUNDLED))
board = np.zeros((6, 7), np.int64)  # 0 empty, 1 first, 2 second player; row 0 is the top
for ply in range(42):
    me = 1 + ply % 2
    columns = {str(column + 1): column for column in range(7) if not board[0, column]}
    if me == 1:
        while (typed := input("your column: ")) not in columns:
            print("columns that are not full:", *columns)
    else:
        planes = np.stack([board == me, board == 3 - me, np.full((6, 7), me == 1)]).astype(np.float32)
        logits, value, plies_left = session.run(None, {"planes": planes[None]})
        typed = max(columns, key=lambda name: logits[0, columns[name]])
        print(f"it plays {typed}, value {value[0]:+.2f}, about {plies_left[0]:.0f} plies left")
    board[np.flatnonzero(board[:, columns[typed]] == 0)[-1], columns[typed]] = me
    print("\n".join(" ".join(".XO"[stone] for stone in row) for row in board))
    stones = np.pad(board == me, 3)
    steps = ((0, 1), (1, 0), (1, 1), (1, -1))
    if any(np.all([np.roll(stones, (i * y, i * x), (0, 1)) for i in range(4)], 0).any() for y, x in steps):
        print(f"{'XO'[me - 1]} wins")
        break
else:
    print("a draw")
