r"""SGF, for every game: a whole game with variations, comments and a first position. FF[4], red-bean.com/sgf.

    (;FF[4]GM[4]SZ[15]PB[Ann]    a tree in parentheses; a node begins with a semicolon;
     ;B[hh];W[ig]C[a comment]    a property is capital letters and one or more values in brackets
     (;B[gg])(;B[ii]))           variations: the first one continues the main line

sgf_dialects.py says how each game is written, sgf_setup.py how a position is set up before the first move.

Evaluations are V (for black, the first player), judgements TE, DO and BM. IP[] marks the node where the game
stands, if moves were taken back and that is not the end of the main line. The standard defines it for Hex and
for Lines of Action; in other games it is our own. We ignore all other properties.
"""

import re

from tengen import __version__
from tengen.errors import UserError
from tengen.games import mnk
from tengen.games.facts import Facts, result_on_board
from tengen.games.game import Game
from tengen.games.position import Position
from tengen.games.reading import at_line, play, shown
from tengen.games.sgf_dialects import NAME, find_game, is_resignation, number, read_move, write_move
from tengen.games.sgf_setup import SET_UP, check_no_set_up, read_start, write_start
from tengen.games.sgf_syntax import (
    Property,
    SyntaxNode,
    first_of_each,
    head,
    main_line,
    parse_nodes,
    written,
)
from tengen.games.variations import Node, Variations

RESULTS = {"1-0": "B+", "0-1": "W+", "1/2": "0", "*": "Void"}  # RE
JUDGEMENTS = {
    "best": "TE[2]",
    "good": "TE[1]",
    "inaccuracy": "DO[]",
    "mistake": "BM[1]",
    "missed win": "BM[2]",
}
STANDS_HERE = "IP"
NODES_PER_LINE = 10


def render(variations: Variations, current: int | None = None) -> str:
    """A game with its variations, comments and facts as a file.

    `current` is the node where the game stands; without it, the end of the main line."""
    end = variations.main_line()[-1].id
    current = end if current is None else current
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
        nodes = [_render_node(variations, node, current, end) for node in line]
        if item == variations.root:
            pieces.append(nodes.pop(0) + ("\n" if nodes else ""))
        rows = range(0, len(nodes), NODES_PER_LINE)
        pieces.append("\n".join("".join(nodes[i : i + NODES_PER_LINE]) for i in rows))
        for child in reversed(line[-1].children):
            todo += [")", child, "\n("]
    return "".join(pieces) + ")\n"


def parse(text: str, game: str | None = None) -> tuple[Variations, str]:
    """The first game of a file with its variations, and a note of what was left out of it.

    The node where the file says that the game stands is current, else the end of the main line.

    A variation with a move that our rules do not allow (books show forbidden moves) is left out from that
    move on; in the main line such a move is an error."""
    nodes = parse_nodes(text)
    properties = main_line(nodes)
    rules = find_game(first_of_each(properties), game)
    return _play(nodes, Variations(read_start(rules, nodes), _facts(rules, properties)))


def parse_main_line(text: str, game: str | None = None) -> Variations:
    """The main line of the first game of a file, for callers that need a game from its start."""
    nodes = [node for node in parse_nodes(text) if node.is_main]
    properties = main_line(nodes)
    rules = find_game(first_of_each(properties), game)
    check_no_set_up(rules, properties)
    return _play(nodes, Variations(Position.start(rules), _facts(rules, properties)))[0]


# Writing.


def _render_node(variations: Variations, node: Node, current: int, end: int) -> str:
    text = ";"
    if node.parent is None:
        text += _render_root(variations, variations[current].position)
    else:
        colour = "BW"[variations[node.parent].position.to_move - 1]
        assert node.action is not None
        text += written(colour, write_move(node.position.game, node.action))
    text += written(STANDS_HERE, "") if node.id == current and current != end else ""
    text += JUDGEMENTS.get(node.judgement, "")
    text += "" if node.value is None else written("V", f"{node.value:g}")
    return text + (written("C", node.comment) if node.comment else "")


def _render_root(variations: Variations, current: Position) -> str:
    """The properties of the root: the game, its facts, and the stones it begins with."""
    start = variations[variations.root].position
    game, facts = start.game, variations.facts
    result = result_on_board(current) if current.is_over else facts.result
    root = {
        "FF": "4",
        "GM": number(game),
        "CA": "UTF-8",
        "AP": f"tengen:{__version__}",
        "SZ": str(game.rows) if game.rows == game.cols else f"{game.cols}:{game.rows}",
        "RU": mnk.RULES[game.header[3]] if mnk.is_mnk(game) else "",
        NAME: game.name,
        "PB": facts.players[0],
        "PW": facts.players[1],
        "DT": facts.date,
        "RE": RESULTS[result],
        "GC": facts.comment,
    }
    return "".join(written(name, value) for name, value in root.items() if value) + write_start(start)


# Reading: the facts.


def _facts(game: Game, properties: list[Property]) -> Facts:
    said = {name: found.values[0] for name, found in first_of_each(properties).items()}
    names = {"first": "PB", "second": "PW", "date": "DT", "comment": "GC"}
    facts = {key: said.get(name, "") for key, name in names.items()}
    result = _result(said.get("RE", "")) or _result_of_last_move(game, properties)
    return Facts.from_dict(facts | {"result": result})


def _result(text: str) -> str:
    """Our result for an RE such as `B+R`, `0` or `?`; empty if it is not known."""
    ended = text.strip().lower()
    if ended in RESULTS:
        return ended
    return {"b+": "1-0", "w+": "0-1", "0": "1/2", "draw": "1/2"}.get(ended[:2] if "+" in ended else ended, "")


def _result_of_last_move(game: Game, properties: list[Property]) -> str:
    """Our result if the last move gives the game up, else an empty text."""
    last = [found for found in properties if found.is_move][-1:]
    if not last or not is_resignation(game, last[0].values[0]):
        return ""
    return ("0-1", "1-0")[last[0].player - 1]


# Reading: the moves.


def _play(nodes: list[SyntaxNode], variations: Variations) -> tuple[Variations, str]:
    """All nodes of a file, played, and a note of what was left out; goes to where the game stands."""
    left_out: list[str] = []
    places: dict[int, int] = {}  # where in the variations each node of the file has led
    stands_at: set[int] = set()
    num_head = len(head(nodes))
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
            if found.name == STANDS_HERE:
                stands_at.add(place)
        if node.is_main:
            variations.go_to(place)
    if len(stands_at) == 1:  # two places are a damaged file
        variations.go_to(stands_at.pop())
    more = f"; and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    return variations, f"left out a variation, {left_out[0]}{more}" if left_out else ""


def _obey(variations: Variations, place: int, found: Property, *, is_head: bool) -> int:
    """The node after a property: plays its move, if it has one."""
    position = variations[place].position
    if found.is_move:
        if len(found.values) > 1:
            raise UserError(f"expected one move, got {len(found.values)}")
        if is_resignation(position.game, found.values[0]):
            return place  # the result says it
        after = play(position, read_move(position.game, found.values[0]), player=found.player)
        if after.undo() is not position:  # a pass that the file leaves out
            place = variations.add(place, "pass").id
        assert after.last_action is not None
        place = variations.add(place, after.last_action).id
    elif found.name == "PL" and " BW".find(found.values[0].strip().upper()[:1]) != position.to_move:
        raise UserError(f"PL[{shown(found.values[0])}] changes who is to move: that is not read")
    elif found.name in SET_UP and not is_head:
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
