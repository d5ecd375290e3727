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


def of_yaml(raw: bytes) -> dict[str, str]:
    """Settings of a W&B or SwanLab config.yaml; each lies under `value` of its name.

    Raises ValueError and YAMLError.
    """
    words = raw.decode("utf-8", "replace")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(words, Loader=loader)):
        raise ValueError("an alias stands for other parts of the file, which no tracker writes")
    whole = yaml.load(words, Loader=loader)  # noqa: S506 - both are safe loaders
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
