"""Frozen dataclasses to JSON and back, for the caches. Types come from the annotations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

T = TypeVar("T")


def dumps(value: object) -> bytes:
    """`value` as JSON. NaN and infinities are kept as the strings "nan", "inf" and "-inf"."""
    return orjson.dumps(_plain(value))


def loads(data: bytes, kind: type[T]) -> T:
    """The `kind` that `dumps` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    annotation: Any = kind
    built: T = _builder(annotation)(orjson.loads(data))
    return built


def _plain(value: object) -> object:
    kind: Any = type(value)
    if kind is str or kind is int or value is None:  # most are
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return [_plain(getattr(value, name)) for name in _names(kind)]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _builder(kind: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        inner = _builder(next(arg for arg in args if arg is not NoneType))
        return lambda data: None if data is None else inner(data)
    if origin is tuple:
        return _tuple_builder(args)
    if origin is not None and issubclass(origin, Mapping):
        key, item = _builder(args[0]), _builder(args[1])
        return lambda data: {key(k): item(v) for k, v in data}
    if is_dataclass(kind):
        return _dataclass_builder(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return float if kind is float else lambda data: data


def _tuple_builder(args: tuple[Any, ...]) -> Callable[[Any], Any]:
    if len(args) == 2 and args[1] is Ellipsis:
        item = _builder(args[0])
        return lambda data: tuple(item(one) for one in data)
    items = [_builder(arg) for arg in args]
    return lambda data: tuple(build(one) for build, one in zip(items, data, strict=True))


def _dataclass_builder(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    parts = [_builder(hints[field.name]) for field in fields(kind)]
    return lambda data: kind(*(build(one) for build, one in zip(parts, data, strict=True)))
