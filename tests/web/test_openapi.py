"""The routes over HTTP, asked in every way that their OpenAPI description allows, and in ways it does not."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import given, settings
from schemathesis import Case
from schemathesis.schemas import BaseSchema

from tests.web.conftest import Running


@pytest.fixture
def described(server: Running) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def test_all_routes_are_described(described: BaseSchema) -> None:
    assert set(described) == {"/api/health", "/api/games"}


@pytest.mark.parametrize("path", ["/api/health", "/api/games"])
def test_every_answer_is_one_that_is_described(described: BaseSchema, path: str) -> None:
    operation = described[path]["GET"]

    @given(case=operation.as_strategy())
    @settings(max_examples=30, deadline=None)
    def ask(case: Case[Any]) -> None:
        case.call_and_validate()

    ask()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "NONSENSE"])
@pytest.mark.parametrize("path", ["/", "/api/games", "/static/app.js", "/static/../app.py", "/%00", "/ws"])
def test_no_other_method_is_answered(server: Running, method: str, path: str) -> None:
    assert 400 <= httpx.request(method, server.url + path).status_code < 500
