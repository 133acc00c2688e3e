"""Variations: a game as a tree of moves, each with the position after it, a comment and an evaluation.

    >>> game = Variations.from_position(Position.from_moves("tictactoe", "b2 a1 c1"))
    >>> node = game.go_to(game.path(game.current)[1].id)         # after b2
    >>> game.play("c3").comment, game.to_text()                  # another reply: a variation
    ('', 'b2 a1 (c3) c1')

The first child of every node continues the main line. One node is the current one. Nodes are immutable
values; a change replaces the old value by a new one, under the same id. An id is never used again, so that
a page in a browser can name a node. Nothing here is recursive: variations may be nested deeply.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from tengen.errors import UserError
from tengen.games.facts import Facts, check_is_text
from tengen.games.position import Position

JUDGEMENTS = ("best", "good", "inaccuracy", "mistake", "missed win")


@dataclass(frozen=True)
class Node:
    """A move and the position after it; the root is the start of the game and has no move."""

    id: int
    parent: int | None  # an id
    position: Position
    children: tuple[int, ...] = ()  # ids; the first one continues the main line
    comment: str = ""  # any text; line breaks are \n
    value: float | None = None  # of the position, from -1 to 1 for the first player, four decimals
    judgement: str = ""  # of the move: one of JUDGEMENTS

    @property
    def action(self) -> int | None:
        return None if self.parent is None else self.position.last_action

    @property
    def move(self) -> str | None:
        return None if self.parent is None else self.position.last_move

    def to_dict(self) -> dict[str, object]:
        """The node as plain values, for JSON: id, parent, move, and what it has of the notes."""
        notes = {"comment": self.comment, "value": self.value, "judgement": self.judgement}
        found = {name: note for name, note in notes.items() if note not in ("", None)}
        return {"id": self.id, "parent": self.parent, "move": self.move, **found}


class Variations:
    """A game with variations and comments. Equal if start, facts, moves, comments and evaluations are."""

    def __init__(self, start: Position, facts: Facts | None = None) -> None:
        self.facts = facts or Facts()
        self.root = self.current = 0  # ids
        self._nodes = {self.root: Node(self.root, None, start)}
        self._next_id = 1

    @classmethod
    def from_position(cls, position: Position, facts: Facts | None = None) -> "Variations":
        """The game that led to a position, as the main line; its last move is the current node."""
        start = position
        for _ in position.actions:
            start = start.undo()
        variations = cls(start, facts)
        for action in position.actions:
            variations.play(action)
        return variations

    # Reading.

    @property
    def node(self) -> Node:
        """The current node."""
        return self._nodes[self.current]

    def __getitem__(self, node_id: int) -> Node:
        if node_id not in self._nodes:
            raise UserError(f"there is no node {node_id} in this game: it was deleted, or never was")
        return self._nodes[node_id]

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._nodes

    def __len__(self) -> int:
        """The number of nodes, the root included."""
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        """Every node, a parent before its children, the main line first."""
        return self._below(self.root)

    def path(self, node_id: int) -> list[Node]:
        """The nodes from the root to a node, both included."""
        node = self[node_id]
        found = [node]
        while node.parent is not None:
            node = self._nodes[node.parent]
            found.append(node)
        return found[::-1]

    def main_line(self, node_id: int | None = None) -> list[Node]:
        """The first children from a node (without one, the root) to the end; the node itself comes first."""
        node = self[self.root if node_id is None else node_id]
        found = [node]
        while node.children:
            node = self._nodes[node.children[0]]
            found.append(node)
        return found

    def is_main(self, node_id: int) -> bool:
        """Is this node on the main line?"""
        path = self.path(node_id)
        return all(parent.children[0] == node.id for parent, node in pairwise(path))

    # Moving to another node.

    def go_to(self, node_id: int) -> Node:
        self.current = self[node_id].id
        return self.node

    def back(self) -> Node:
        """Goes to the move before; stays at the start."""
        return self.go_to(self.current if self.node.parent is None else self.node.parent)

    def forward(self) -> Node:
        """Goes to the next move of this line; stays at its end."""
        return self.go_to(self.node.children[0] if self.node.children else self.current)

    def first(self) -> Node:
        """Goes to the start."""
        return self.go_to(self.root)

    def last(self) -> Node:
        """Goes to the end of this line."""
        return self.go_to(self.main_line(self.current)[-1].id)

    # Changing.

    def play(self, move: str | int) -> Node:
        """The node after a move at the current node: an existing child or a new variation; goes there."""
        return self.go_to(self.add(self.current, move).id)

    def add(self, parent: int, move: str | int) -> Node:
        """The child of a node after this move; created if there is none."""
        above = self[parent]
        position = above.position.play(move)
        for child in above.children:
            if self._nodes[child].action == position.last_action:
                return self._nodes[child]
        node = Node(self._next_id, parent, position)
        self._next_id += 1
        self._nodes[node.id] = node
        self._nodes[parent] = replace(above, children=(*above.children, node.id))
        return node

    def delete(self, node_id: int) -> None:
        """Removes a move and all that follows it. If the current node is removed, the parent is current."""
        node = self[node_id]
        if node.parent is None:
            raise UserError("the start of a game cannot be deleted")
        for below in list(self._below(node_id)):
            del self._nodes[below.id]
        above = self._nodes[node.parent]
        children = tuple(child for child in above.children if child != node_id)
        self._nodes[above.id] = replace(above, children=children)
        if self.current not in self._nodes:
            self.current = above.id

    def promote(self, node_id: int) -> None:
        """Makes the line that leads to a node the main line."""
        for node in self.path(node_id)[1:]:
            assert node.parent is not None
            above = self._nodes[node.parent]
            others = tuple(child for child in above.children if child != node.id)
            self._nodes[above.id] = replace(above, children=(node.id, *others))

    def set_comment(self, node_id: int, comment: str) -> None:
        check_is_text(comment)
        comment = comment.replace("\r\n", "\n").replace("\r", "\n")
        self._nodes[node_id] = replace(self[node_id], comment=comment)

    def set_value(self, node_id: int, value: float | None) -> None:
        """Stores the value of the position for the first player."""
        if value is not None:
            if not -1 <= value <= 1:
                raise UserError(f"a value is from -1 to 1, got {value}")
            value = round(value, 4)
        self._nodes[node_id] = replace(self[node_id], value=value)

    def set_judgement(self, node_id: int, judgement: str) -> None:
        """Stores how good the move was; an empty text removes it."""
        if judgement and judgement not in JUDGEMENTS:
            raise UserError(f"a judgement is one of {', '.join(JUDGEMENTS)}, got '{judgement}'")
        if judgement and node_id == self.root:
            raise UserError("the start of a game is no move that could be judged")
        self._nodes[node_id] = replace(self[node_id], judgement=judgement)

    def to_text(self, marked: int | None = None) -> str:
        """The moves, with variations in parentheses after the move they replace: `b2 a1 (c3) c1`.

        The move of the marked node is in brackets, the start as `[start]`."""
        words = ["[start]"] if marked == self.root and len(self) > 1 else []
        todo: list[int | str] = [self.root]  # a node: write what follows it; a text: write it as it is
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                words.append(item)
                continue
            children = [self._nodes[child] for child in self._nodes[item].children]
            names = [f"[{child.move}]" if child.id == marked else f"{child.move}" for child in children]
            if children:
                todo.append(children[0].id)
                for child, name in list(zip(children, names, strict=True))[:0:-1]:
                    todo += [")", child.id, name, "("]
                todo.append(names[0])
        return " ".join(words).replace("( ", "(").replace(" )", ")")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variations):
            return NotImplemented
        return self.facts == other.facts and self._shape() == other._shape()

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def _shape(self) -> list[tuple[object, ...]]:
        """Everything but the ids. The numbers of children define the tree without them."""
        start = self._nodes[self.root].position
        nodes = [(n.action, len(n.children), n.comment, n.value, n.judgement) for n in self]
        return [(start,), *nodes]

    def _below(self, node_id: int) -> Iterator[Node]:
        """A node and all nodes below it, a parent before its children, the first child first."""
        todo = [node_id]
        while todo:
            node = self._nodes[todo.pop()]
            yield node
            todo += reversed(node.children)
