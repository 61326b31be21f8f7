"""Evaluates clients' JSON paths (RFC 9535) with a bounded amount of work. Has no side effects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError, JSONPathQuery, JSONPathRecursionError
from jsonpath_rfc9535.filter_expressions import (
    ComparisonExpression,
    Expression,
    FilterExpression,
    FilterQuery,
    FunctionExtension,
    LogicalExpression,
    PrefixExpression,
    RootFilterQuery,
)
from jsonpath_rfc9535.function_extensions import ExpressionType, FilterFunction
from jsonpath_rfc9535.segments import JSONPathRecursiveDescentSegment
from jsonpath_rfc9535.selectors import FilterSelector

from monitoring.contract.document import Json
from monitoring.monitors.patterns import TooMuchWorkError, UnreadablePatternError, read_pattern

# The limit on the product of the number of values in the response and the number of characters in the path.
# This much work takes about 0.2 seconds. The limit does not apply to a path of only names and indexes.
MAX_WORK = 500_000
MAX_STEPS_IN_FILTER = 10_000  # the maximum steps of a regular expression, per value
MAX_DEPTH = 100


class UnreadablePathError(Exception):
    """A path that does not follow RFC 9535; `position` is the 1-based position of the error."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CostlyPathError(Exception):
    """The work to evaluate the path may grow faster than the response's size, as for a path with two `..`."""


class JsonPath:
    """A parsed path. The work to evaluate the path grows no faster than the size of the response."""

    def __init__(self, written: str) -> None:
        self._size = len(written)
        try:
            self._query = _ENVIRONMENT.compile(written)
            is_costly = _is_costly(self._query)
        except JSONPathError as error:
            raise UnreadablePathError(error.token.index + 1 if error.token else 1) from None
        except RecursionError:
            raise CostlyPathError from None
        if is_costly:
            raise CostlyPathError
        self._is_singular = self._query.singular_query()

    def find(self, value: Json, value_count: int) -> Iterator[Json]:
        """Yield the values that the path selects in `value`, which contains at most `value_count` values.

        Raises TooMuchWorkError if this takes too much work, or if the path leads deeper than `MAX_DEPTH`.
        """
        if not self._is_singular and value_count * self._size > MAX_WORK:
            raise TooMuchWorkError
        try:
            for node in self._query.finditer(value):
                yield node.value
        except (JSONPathRecursionError, RecursionError):
            raise TooMuchWorkError from None


@lru_cache(256)
def read_path(written: str) -> JsonPath:
    """Parse a path. Raises UnreadablePathError and CostlyPathError."""
    return JsonPath(written)


def count_values(text: str) -> int:
    """Return an upper bound on the number of values in a JSON text."""
    return 1 + text.count(",") + text.count("[") + text.count("{")


def _is_costly(query: JSONPathQuery) -> bool:
    """Return whether a path may visit the same value more times than the path has steps."""
    queries = list(_queries_of(query))
    segments = [segment for each in queries for segment in each.segments]
    descents = sum(isinstance(segment, JSONPathRecursiveDescentSegment) for segment in segments)
    return descents > 1 or any(len(segment.selectors) > 1 for segment in segments)


def _queries_of(query: JSONPathQuery) -> Iterator[JSONPathQuery]:
    """Yield a query and its filters' queries. Raises CostlyPathError if a filter's query begins at `$`."""
    yield query
    for segment in query.segments:
        for selector in segment.selectors:
            if isinstance(selector, FilterSelector):
                yield from _queries_in(selector.expression)


def _queries_in(expression: Expression) -> Iterator[JSONPathQuery]:
    match expression:
        case RootFilterQuery():
            raise CostlyPathError
        case FilterQuery(query=query):
            yield from _queries_of(query)
        case FilterExpression(expression=inner):
            yield from _queries_in(inner)
        case PrefixExpression(right=right):
            yield from _queries_in(right)
        case LogicalExpression(left=left, right=right) | ComparisonExpression(left=left, right=right):
            yield from _queries_in(left)
            yield from _queries_in(right)
        case FunctionExtension(args=args):
            for each in args:
                yield from _queries_in(each)


class _Regexp(FilterFunction):
    """The functions `match` and `search` (RFC 9535 §2.4.6). RE2 accepts all of I-Regexp (RFC 9485)."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the library declares it
    return_type = ExpressionType.LOGICAL

    def __init__(self, *, is_whole: bool) -> None:
        self._is_whole = is_whole

    def __call__(self, text: object, written: object) -> bool:
        if not isinstance(text, str) or not isinstance(written, str):
            return False
        try:
            pattern = read_pattern(written)
        except UnreadablePatternError:
            return False
        matches = pattern.is_all_of if self._is_whole else pattern.is_in
        return matches(text, MAX_STEPS_IN_FILTER)


class _Environment(JSONPathEnvironment):
    max_recursion_depth = MAX_DEPTH

    def setup_function_extensions(self) -> None:
        """Replace the library's `match` and `search`, which hostile patterns could keep busy forever."""
        super().setup_function_extensions()
        self.function_extensions["match"] = _Regexp(is_whole=True)
        self.function_extensions["search"] = _Regexp(is_whole=False)


_ENVIRONMENT = _Environment()
