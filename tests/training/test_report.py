"""A run's page and picture: whole, self-contained, and true to the metrics."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tengen.errors import UserError
from tengen.training.curves import Curve, Point, line_chart, number, percent, ticks
from tengen.training.report import report, strength_svg
from tests.training.made import made_run, metrics_of

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br"}


class Balance(HTMLParser):
    """Every tag that opens is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def charts(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def titles(page: str) -> list[str]:
    found = [chart.find(f".//{SVG}tspan[@class='title']") for chart in charts(page)]
    return [title.text or "" for title in found if title is not None]


def notes(chart: ElementTree.Element) -> list[str]:
    """What the points of a chart say when pointed at."""
    return [title.text or "" for title in chart.iter(f"{SVG}title")]


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path) -> None:
    page = report(made_run(tmp_path / "<b>run", 6))
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert not re.search(r"<script|<link|@import|url\(|src=", page)
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "prefers-color-scheme: dark" in page
    assert "<h1>&lt;b&gt;run</h1>" in page


def test_the_page_has_every_curve_the_settings_and_the_card(tmp_path: Path) -> None:
    page = report(made_run(tmp_path / "run", 6, "learner.batch_size=123"))
    assert titles(page) == [
        "connect4: strength", "connect4: score against", "Policy loss", "Value loss", "Plies-left loss",
        "Entropy of the policies", "Games per second", "Simulations per second", "Positions", "Cache hits",
        "Results of self-play",
    ]  # fmt: skip
    strength, _, policy, *_ = charts(page)
    assert notes(strength) == [
        "sims=64 good 50.0 % (40.0 % to 60.0 %), generation 2",
        "sims=64 good 66.7 % (56.7 % to 76.7 %), generation 4",
        "sims=64 good 75.0 % (65.0 % to 85.0 %), generation 6",
    ]
    assert len(notes(policy)) == 6 and notes(policy)[0] == "2.00, generation 1"
    assert '<td>batch_size</td><td class="value">123</td>' in page
    assert '<td>generation</td><td class="value">6</td>' in page  # of the card
    assert "<b>600</b><span>games</span>" in page and "<b>18</b><span>learning steps</span>" in page


def test_a_run_that_was_never_measured_has_a_page_but_no_picture(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", 1)
    assert titles(report(run))[0] == "Policy loss"
    with pytest.raises(UserError, match="no strength was measured yet; it is measured every 5 generations"):
        strength_svg(run)


def test_a_run_without_a_generation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no complete generation yet"):
        report(made_run(tmp_path / "run", 0))


def test_a_generation_that_played_nothing_new_leaves_a_gap(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", 3)
    lines = [metrics_of(1), metrics_of(2) | {"selfplay": {"seconds": 0.1}}, metrics_of(3)]
    (run.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = report(run)
    games = charts(page)[titles(page).index("Games per second")]
    assert notes(games) == ["5.00, generation 1", "5.00, generation 3"]


def test_the_picture_stands_alone(tmp_path: Path) -> None:
    root = ElementTree.fromstring(strength_svg(made_run(tmp_path / "run", 4)))
    style = root.find(f"{SVG}style")
    assert style is not None and style.text is not None
    assert "prefers-color-scheme: dark" in style.text and "var(" not in style.text
    assert len(root.findall(f".//{SVG}circle")) == 2


def test_points_are_where_they_belong() -> None:
    """Twice as far to the right, half as high; on the axis at 0."""
    points = [Point(0, 0, 0, 0), Point(5, 10, 10, 10), Point(10, 5, 5, 5)]
    root = ElementTree.fromstring(line_chart("t", "", [Curve("a", points)], x_name="x", from_zero=True))
    (x0, y0), (x1, y1), (x2, y2) = (
        (float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in root.iter(f"{SVG}circle")
    )
    assert x2 - x0 == pytest.approx(2 * (x1 - x0), abs=0.11)
    assert y0 - y1 == pytest.approx(2 * (y0 - y2), abs=0.11)
    axis = next(path for path in root.iter(f"{SVG}path") if path.attrib["class"] == "axis")
    assert float(axis.attrib["d"].split()[1].split("H")[0]) == y0


def test_names_of_curves_do_not_touch() -> None:
    curves = [
        Curve(name, [Point(0, 1, 1, 1), Point(1, 1.001 * i, 1, 2)]) for i, name in enumerate("abcd", 1000)
    ]
    root = ElementTree.fromstring(line_chart("t", "", curves, x_name="x"))
    heights = sorted(
        float(text.attrib["y"])
        for text in root.iter(f"{SVG}text")
        if text.attrib.get("class", "").startswith("fill")
    )
    assert len(heights) == 4
    assert all(b - a >= 14.9 for a, b in pairwise(heights))


@pytest.mark.parametrize(
    ("low", "high", "outside", "expected"),
    [
        (0, 20.3, False, [0, 5, 10, 15, 20]),
        (0, 1, True, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (1.21, 1.94, True, [1.2, 1.4, 1.6, 1.8, 2.0]),
        (5, 5, True, [0, 2, 4, 6, 8, 10]),
        (0, 0, True, [-1, -0.5, 0, 0.5, 1]),
        (0.3, 0.3000000000001, True, [0, 0.2, 0.4, 0.6]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, outside: bool, expected: list[float]) -> None:
    assert ticks(low, high, most=5, outside=outside) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.05523, "0.0552"), (1.213, "1.21"), (29.41, "29.4"), (139804, "139,804")]
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert number(value) == text
    assert percent(0.123) == "12.3 %"
