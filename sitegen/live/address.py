"""Addresses of live sources: `mlflow+http://host:5000/#experiment/run`, `wandb://entity/project/run`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from sitegen.errors import ConfigError

_SCHEMES = {"mlflow+http": "http", "mlflow+https": "https", "wandb": ""}
_LIVE = re.compile(r"(mlflow\+https?|wandb):/", re.IGNORECASE)
_EXAMPLES = (
    "`mlflow+http://host:5000/#experiment`, `mlflow+https://host/#experiment/run`, `wandb://entity/project`"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where runs are: of which tracker, on which server, and which of them.

    Args:
        kind: "mlflow" or "wandb".
        server: base URL of an MLflow server, without a slash at the end; "" for W&B, which its package knows.
        wanted: experiment and run, or entity, project and run, as they were given; "" is all.
    """

    kind: str
    server: str
    wanted: str

    def __str__(self) -> str:
        if self.kind == "wandb":
            return f"wandb://{self.wanted}"
        return f"mlflow+{self.server}/" + (f"#{self.wanted}" if self.wanted else "")

    @property
    def name(self) -> str:
        """A name for a folder, different for different addresses."""
        words = re.sub(r"[^a-z0-9]+", "-", str(self).partition("://")[2].lower()).strip("-")
        return f"{self.kind}-{words[:60]}-{hashlib.sha256(str(self).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of a copy: runs that the server lists, and how many of them had to be fetched."""

    runs: int
    fetched: int


def is_address(text: str) -> bool:
    """Whether a text is meant as an address and not as a path."""
    return _LIVE.match(text) is not None


def parse(text: str) -> Address:
    """The address that a text is. Raises ConfigError, without repeating what may be a password."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"this address cannot be read: {error}. Expected {_EXAMPLES}.") from error
    scheme = parts.scheme.lower()
    if "@" in parts.netloc:
        raise ConfigError(
            "an address holds no user and no password: they would end up in files and histories. Set "
            "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, or WANDB_API_KEY."
        )
    if scheme not in _SCHEMES or not host or parts.query:
        raise ConfigError(f"this is no address of a live source. Expected {_EXAMPLES}.")
    if scheme == "wandb":
        return _of_wandb(unquote(parts.netloc), unquote(parts.path), parts.fragment)
    server = f"{_SCHEMES[scheme]}://{parts.netloc}{parts.path.rstrip('/')}"
    return Address("mlflow", server, unquote(parts.fragment).strip("/"))


def _of_wandb(entity: str, path: str, fragment: str) -> Address:
    names = [name for name in path.split("/") if name]
    if names[1:2] == ["runs"]:  # as the address of a run's page has it
        del names[1]
    if not 1 <= len(names) <= 2 or fragment:
        raise ConfigError(
            "W&B needs an entity and a project: wandb://entity/project or wandb://entity/project/run."
        )
    return Address("wandb", "", "/".join([entity, *names]))
