"""Settings of trackers -> flat texts, written as verl's console prints them (`None`, `True`, `1e-06`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

import yaml

from sitegen.ingest import literals

MAX_KEYS = 20_000


def flat(tree: object, prefix: str = "") -> dict[str, str]:
    """Dotted key -> text of every leaf of nested objects; an empty object and a list are leaves."""
    leaves = literals.flatten(literals.of_json(tree), prefix)
    return dict(islice(leaves, MAX_KEYS))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, to which a day is a text: a run may be called like one."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the base class has it
        first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def yaml_tree(raw: bytes) -> object:
    """What a YAML file holds: objects, lists, texts and numbers.

    Raises ValueError and YAMLError, and RecursionError for what is nested too deeply.
    """
    words = raw.decode("utf-8", "replace")
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(words, Loader=_Loader)):
        raise ValueError("an alias stands for other parts of the file, which no tracker and no Hydra writes")
    tree: object = yaml.load(words, Loader=_Loader)  # noqa: S506 - it is a safe loader
    return tree


def of_yaml(raw: bytes) -> dict[str, str]:
    """Settings of a W&B or SwanLab config.yaml; each lies under `value` of its name.

    Raises ValueError and YAMLError.
    """
    whole = yaml_tree(raw)
    if not isinstance(whole, dict):
        raise ValueError("there are no settings in it")
    found: dict[str, str] = {}
    for name, held in whole.items():
        if isinstance(held, Mapping) and "value" in held and not str(name).startswith("_wandb"):
            found |= flat(held["value"], str(name))
    return found


def from_slashes(params: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Settings that verl flattened for MLflow: `/` between the parts of a key, a list as one entry per place.

    `x/list_len` = 2, `x/0`, `x/1` becomes `x` = "[…, …]"; a list of which a place is missing stays as it is.
    """
    texts = dict(params)
    for key in [each for each in texts if each.endswith("/list_len")]:
        whole = key.removesuffix("/list_len")
        length = texts[key]
        places = (
            [f"{whole}/{i}" for i in range(int(length))] if length.isdigit() and len(length) < 5 else None
        )
        if places is not None and all(place in texts for place in places):
            items = [texts.pop(place) for place in places]
            del texts[key]
            texts[whole] = "[" + ", ".join(map(_item, items)) + "]"
    return {key.replace("/", "."): text for key, text in texts.items()}


def _item(text: str) -> str:
    """An item of a list whose type is not stored: numbers and words of Python as they are, others quoted."""
    if text in ("None", "True", "False"):
        return text
    try:
        float(text)
    except ValueError:
        return repr(text)
    return text
