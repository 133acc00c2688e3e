r"""SGF, for five in a row (GM[4], all of the m,n,k family) and Othello (GM[2]). FF[4], red-bean.com/sgf.

    (;FF[4]GM[4]SZ[15]PB[Ann]    a tree in parentheses; a node begins with a semicolon;
     ;B[hh];W[ig]C[a comment]    a property is capital letters and one or more values in brackets
     (;B[gg])(;B[ii]))           variations: the first one continues the main line

The standard says no more about these two games. In five in a row all programs write `hh` as in Go: letters
for the column and the row, from the top left. In Othello, Edax, Cassio and OthelloTk write `f5`, begin with
the four stones (AB, AW) and write a pass as `[PA]`, as `[@@@@]`, or not at all; ours is `[]`. We put our
name for the game into a property of our own, TENGEN[gomoku15].

A position set up by hand is AB, AW and PL (who is to move) before the first move. Evaluations are V (for
black, the first player), judgements TE, DO and BM. We ignore all other properties.
"""

import re
from collections import Counter

from tengen import __version__, games
from tengen.errors import UserError
from tengen.games import mnk, othello
from tengen.games.coordinates import LETTERS
from tengen.games.facts import Facts, result_on_board
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import at_line, check_size, five_in_a_row, play, rule_named, shown
from tengen.games.sgf_syntax import Property, SyntaxNode, parse_nodes, written
from tengen.games.variations import Node, Variations

SIZE = re.compile(r"\s*([0-9]{1,3})\s*(?::\s*([0-9]{1,3})\s*)?")

FIVE_IN_A_ROW, OTHELLO = "4", "2"  # GM
RESULTS = {"1-0": "B+", "0-1": "W+", "1/2": "0", "*": "Void"}  # RE
PASSES = ("", "tt", "pa", "pass", "--", "@@@@")
JUDGEMENTS = {
    "best": "TE[2]",
    "good": "TE[1]",
    "inaccuracy": "DO[]",
    "mistake": "BM[1]",
    "missed win": "BM[2]",
}
NODES_PER_LINE = 10


def render(variations: Variations) -> str:
    """A game with its variations, comments and facts as a file."""
    pieces = ["("]
    todo: list[int | str] = [variations.root]  # a node: it and all that follows; a text: itself
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        line = [variations[item]]  # up to where it branches
        while len(line[-1].children) == 1:
            line.append(variations[line[-1].children[0]])
        nodes = [_render_node(variations, node) for node in line]
        if item == variations.root:
            pieces.append(nodes.pop(0) + ("\n" if nodes else ""))
        rows = range(0, len(nodes), NODES_PER_LINE)
        pieces.append("\n".join("".join(nodes[i : i + NODES_PER_LINE]) for i in rows))
        for child in reversed(line[-1].children):
            todo += [")", child, "\n("]
    return "".join(pieces) + ")\n"


def parse(text: str, game: str | None = None) -> tuple[Variations, str]:
    """The first game of a file with its variations, and a note of what was left out of it.

    A variation with a move that our rules do not allow (books show forbidden moves) is left out from that
    move on; in the main line such a move is an error."""
    nodes = parse_nodes(text)
    properties = _main_line(nodes)
    rules = _game(_first(properties), game)
    return _play(nodes, Variations(_start(rules, nodes), _facts(properties)))


def parse_main_line(text: str, game: str | None = None) -> Variations:
    """The main line of the first game of a file, for callers that need a game from its start."""
    nodes = [node for node in parse_nodes(text) if node.is_main]
    properties = _main_line(nodes)
    rules = _game(_first(properties), game)
    _check_no_set_up(rules, properties)
    return _play(nodes, Variations(Position.start(rules), _facts(properties)))[0]


# Writing.


def _render_node(variations: Variations, node: Node) -> str:
    game = node.position.game
    text = ";"
    if node.parent is None:
        text += _render_root(variations)
    else:
        colour = "BW"[variations[node.parent].position.to_move - 1]
        assert node.action is not None
        text += written(colour, _point(game, node.action))
    text += JUDGEMENTS.get(node.judgement, "")
    text += "" if node.value is None else written("V", f"{node.value:g}")
    return text + (written("C", node.comment) if node.comment else "")


def _render_root(variations: Variations) -> str:
    """The properties of the root: the game, its facts, and the stones it begins with."""
    start = variations[variations.root].position
    game, facts = start.game, variations.facts
    kind = _kind(game)
    end = variations.main_line()[-1].position
    result = result_on_board(end) if end.is_over else facts.result
    root = {
        "FF": "4",
        "GM": kind,
        "CA": "UTF-8",
        "AP": f"tengen:{__version__}",
        "SZ": str(game.rows) if game.rows == game.cols else f"{game.cols}:{game.rows}",
        "RU": mnk.RULES[game.header[3]] if kind == FIVE_IN_A_ROW else "",
        "TENGEN": game.name,
        "PB": facts.players[0],
        "PW": facts.players[1],
        "DT": facts.date,
        "RE": RESULTS[result],
        "GC": facts.comment,
    }
    text = "".join(written(name, value) for name, value in root.items() if value)
    is_set_up = start != Position.start(game)
    if is_set_up:
        _check_can_set_up(start)
    stones = _stones(start)
    for name, player in (("AB", 1), ("AW", 2)):
        points = [_point(game, cell) for cell, stone in stones.items() if stone == player]
        text += written(name, *points) if points else ""
    if is_set_up and not stones and _stones(Position.start(game)):
        text += written("AE", _point(game, 0))  # in Othello an empty board must be stated
    return text + (written("PL", "BW"[start.to_move - 1]) if is_set_up else "")


def _check_can_set_up(start: Position) -> None:
    """UserError if the stones and the player to move do not describe the whole position."""
    stones = _stones(start)
    cells = [stones.get(cell, 0) for cell in range(start.game.rows * start.game.cols)]
    again = Position.from_cells(start.game, cells, start.to_move)
    if (again.legal_moves, again.outcome) != (start.legal_moves, start.outcome):
        raise UserError(f"this position of {start.game.name} cannot be set up from its stones alone")


def _point(game: Game, action: int) -> str:
    """A move as SGF writes it."""
    if game.play is othello.play:
        return game.moves.name(action).replace("pass", "")
    return LETTERS[action % game.cols] + LETTERS[action // game.cols]


# Reading: the game and its facts.


def _main_line(nodes: list[SyntaxNode]) -> list[Property]:
    return [found for node in nodes if node.is_main for found in node.properties]


def _first(properties: list[Property]) -> dict[str, Property]:
    """The first property of each name."""
    return {found.name: found for found in reversed(properties)}


def _facts(properties: list[Property]) -> Facts:
    said = {name: found.values[0] for name, found in _first(properties).items()}
    names = {"first": "PB", "second": "PW", "date": "DT", "comment": "GC"}
    facts = {key: said.get(name, "") for key, name in names.items()}
    return Facts.from_dict(facts | {"result": _result(said.get("RE", ""))})


def _kind(game: Game) -> str:
    """The number of a game in SGF."""
    if mnk.is_mnk(game):
        return FIVE_IN_A_ROW
    if game.play is othello.play:
        return OTHELLO
    raise UserError(f"SGF is for five in a row and Othello, not for {game.name}: use text")


def _game(first: dict[str, Property], game: str | None) -> Game:
    """Which game it is: the one asked for, the one our own file names, or what GM, SZ and RU say."""
    gm = first["GM"].values[0].strip() if "GM" in first else "none"
    size = first.get("SZ", Property(1, "SZ", ("8" if gm == OTHELLO else "15",)))
    sides = SIZE.fullmatch(size.values[0])
    if not sides:
        raise UserError(f"line {size.line}: expected SZ[15] or SZ[9:7], got SZ[{shown(size.values[0])}]")
    cols, rows = int(sides[1]), int(sides[2] or sides[1])
    line = size.line
    if game is None and "TENGEN" in first:
        game, line = first["TENGEN"].values[0], first["TENGEN"].line
    elif game is None and gm == FIVE_IN_A_ROW:
        game = five_in_a_row(rows, cols, _rule(first))
    elif game is None and gm == OTHELLO:
        game = f"othello{rows}" if f"othello{rows}" in games.names() else f"othello:size={rows}"
    elif game is None:
        line = first["GM"].line if "GM" in first else 1
        raise UserError(f"line {line}: expected GM[4], five in a row, or GM[2], Othello, got {shown(gm)}")
    with at_line(line):
        found = games.find(game)
        _kind(found)
        if "SZ" in first:
            check_size(found, rows, cols)
    return found


def _rule(first: dict[str, Property]) -> str:
    named = first.get("RU", Property(1, "RU", ("freestyle",)))
    rule = rule_named(named.values[0])
    if rule is None:
        raise UserError(f"line {named.line}: unknown rule '{shown(named.values[0])}': name the game yourself")
    return rule


def _result(text: str) -> str:
    """Our result for an RE such as `B+R`, `0` or `?`; empty if it is not known."""
    ended = text.strip().lower()
    if ended in RESULTS:
        return ended
    return {"b+": "1-0", "w+": "0-1", "0": "1/2", "draw": "1/2"}.get(ended[:2] if "+" in ended else ended, "")


# Reading: the first position.


def _start(game: Game, nodes: list[SyntaxNode]) -> Position:
    """The first position: the game's own, or the one that AB, AW, AE and PL set up before the first move."""
    head = [found for node in _head(nodes) for found in node.properties]
    set_up = [found for found in head if found.name in ("AB", "AW", "AE")]
    turn = next((found for found in _before_moves(head) if found.name == "PL"), None)
    start = Position.start(game)
    stones: dict[int, int] = {} if set_up else _stones(start)
    for found in set_up:
        with at_line(found.line):
            for value in found.values:
                stones |= dict.fromkeys(_cells(game, value), "EBW".index(found.name[1]))
    stones = {cell: stone for cell, stone in stones.items() if stone}
    to_move = start.to_move
    if turn is not None:
        with at_line(turn.line):
            to_move = _colour(turn.values[0])
    elif stones != _stones(start):
        to_move = _turn_without_pl(stones, _main_line(nodes))
    if stones == _stones(start) and to_move == start.to_move:
        return start
    with at_line((turn or set_up[0]).line):
        cells = [stones.get(cell, 0) for cell in range(game.rows * game.cols)]
        return Position.from_cells(game, cells, to_move)


def _head(nodes: list[SyntaxNode]) -> list[SyntaxNode]:
    """The first nodes, up to the first that has a move or branches."""
    num_children = Counter(node.parent for node in nodes)
    for node in nodes:  # as long as none branches, they follow each other
        if num_children[node.number] != 1 or any(found.is_move for found in node.properties):
            return nodes[: node.number + 1]
    return nodes


def _before_moves(properties: list[Property]) -> list[Property]:
    moves = [i for i, found in enumerate(properties) if found.is_move]
    return properties[: moves[0]] if moves else properties


def _turn_without_pl(stones: dict[int, int], main_line: list[Property]) -> int:
    """The player to move if there is no PL: the one who moves first, else black unless it has more stones."""
    for found in main_line:
        if found.is_move:
            return found.player
    placed = list(stones.values())
    return 2 if placed.count(1) > placed.count(2) else 1


def _colour(value: str) -> int:
    player = " BW".find(value.strip().upper()[:1] or "?")
    if player < 1:
        raise UserError(f"expected PL[B] or PL[W], got PL[{shown(value)}]")
    return player


def _cells(game: Game, value: str) -> list[int]:
    """The cells that a value of AB, AW or AE means: one, or all of a rectangle, `aa:cc`."""
    corners = [game.moves.action(_move(game, corner)) for corner in value.split(":")[:2]]
    if max(corners) >= game.rows * game.cols:
        raise UserError(f"'{shown(value)}' is no point of the board")
    rows, cols = zip(*(divmod(cell, game.cols) for cell in corners), strict=True)
    return [
        row * game.cols + col
        for row in range(min(rows), max(rows) + 1)
        for col in range(min(cols), max(cols) + 1)
    ]


def _check_no_set_up(game: Game, properties: list[Property]) -> None:
    """UserError if stones are set up that are not those of the first position."""
    set_up = [found for found in properties if found.name in ("AB", "AW", "AE")]
    stones: dict[str, int] = {}
    for found in set_up:
        with at_line(found.line):
            stones |= {_move(game, value): "EBW".index(found.name[1]) for value in found.values}
    at_start = {game.moves.name(cell): stone for cell, stone in _stones(Position.start(game)).items()}
    if set_up and stones != at_start:
        raise UserError(f"line {set_up[0].line}: only games from the start can be read, not stones set up")


def _stones(position: Position) -> dict[int, int]:
    """The stones on the board: {cell: player}."""
    cells = position.state[position.game.cells]
    return {cell: int(stone) for cell, stone in enumerate(cells) if stone in (1, 2)}


# Reading: the moves.


def _play(nodes: list[SyntaxNode], variations: Variations) -> tuple[Variations, str]:
    """All nodes of a file, played, and a note of what was left out; the end of the main line is current."""
    left_out: list[str] = []
    places: dict[int, int] = {}  # where in the variations each node of the file has led
    num_head = len(_head(nodes))
    for node in nodes:
        if node.parent is not None and node.parent not in places:
            continue  # follows a move that was left out
        place = variations.root if node.parent is None else places[node.parent]
        try:
            for found in node.properties:
                with at_line(found.line):
                    place = _obey(variations, place, found, is_head=node.number < num_head)
        except UserError as error:
            if node.is_main:
                raise
            left_out.append(str(error))
            continue
        places[node.number] = place
        for found in node.properties:
            _annotate(variations, place, found)
        if node.is_main:
            variations.go_to(place)
    more = f"; and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    return variations, f"left out a variation, {left_out[0]}{more}" if left_out else ""


def _obey(variations: Variations, place: int, found: Property, *, is_head: bool) -> int:
    """The node after a property: plays its move, if it has one."""
    position = variations[place].position
    if found.is_move:
        if len(found.values) > 1:
            raise UserError(f"expected one move, got {len(found.values)}")
        after = play(position, _move(position.game, found.values[0]), player=found.player)
        if after.undo() is not position:  # a pass that the file leaves out
            place = variations.add(place, "pass").id
        assert after.last_action is not None
        place = variations.add(place, after.last_action).id
    elif found.name == "PL" and " BW".find(found.values[0].strip().upper()[:1]) != position.to_move:
        raise UserError(f"PL[{shown(found.values[0])}] changes who is to move: that is not read")
    elif found.name in ("AB", "AW", "AE") and not is_head:
        raise UserError("stones can be set up before the first move only")
    return place


def _annotate(variations: Variations, place: int, found: Property) -> None:
    """Stores a comment, an evaluation or a judgement. Ignores everything else, and values it cannot read."""
    value = found.values[0]
    if found.name == "C" and value:
        before = variations[place].comment
        variations.set_comment(place, f"{before}\n{value}" if before else value)
    elif found.name == "V" and re.fullmatch(r"\s*[+-]?(0?\.[0-9]+|[01](\.0*)?)\s*", value):
        variations.set_value(place, float(value))
    elif found.name in ("TE", "DO", "BM") and place != variations.root:
        property_of = {written_as: judgement for judgement, written_as in JUDGEMENTS.items()}
        judgement = property_of.get(f"{found.name}[{value.strip()}]")
        if judgement:
            variations.set_judgement(place, judgement)


def _move(game: Game, value: str) -> str:
    """The move that a value means: `hh`, `h8`, or a pass in Othello."""
    point = value.strip().lower()
    if game.play is othello.play and point in PASSES:
        return "pass"
    if not re.fullmatch("[a-z]{2}", point):
        return point
    col, row = LETTERS.index(point[0]), LETTERS.index(point[1])
    if col >= game.cols or row >= game.rows:
        raise UserError(f"'{point}' is not on a board of {game.rows}×{game.cols}")
    return game.moves.name(row * game.cols + col)
