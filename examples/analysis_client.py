"""Asks `tengen analysis` about every position of a game, all at once: python examples/analysis_client.py"""

import json
import subprocess
import sys

GAME, MOVES = "connect4", list("44444326")

service = subprocess.Popen(
    [sys.executable, "-m", "tengen", "analysis"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
assert service.stdin and service.stdout
for number in range(len(MOVES) + 1):
    query = {"id": number, "game": GAME, "moves": MOVES[:number], "limit": {"simulations": 200}}
    print(json.dumps(query), file=service.stdin)
service.stdin.close()  # no more queries: it answers these, and ends
results = sorted((json.loads(line) for line in service.stdout), key=lambda result: result["id"])
for result in results:
    played = " ".join(result["played"]) or "the start"
    print(f"{played}: best {result['best']}, value {result['value']:+.2f} for player {result['to_move']}")
service.wait()
