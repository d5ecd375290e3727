"""Addresses of a site for what leaves it: feeds, badges, plain Markdown."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from urllib.parse import quote

_NAMES = uuid.uuid5(uuid.NAMESPACE_URL, "https://github.com/verl-project/verl#sitegen")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of a site that may not know where it will be published.

    Args:
        title: name of the site.
        site_url: its address, "" where mkdocs.yml does not say.
    """

    title: str
    site_url: str = ""

    @property
    def base(self) -> str:
        """The address with a slash at its end, or "": all addresses are then below the root of the site."""
        return f"{self.site_url.rstrip('/')}/" if self.site_url else ""

    def of(self, path: str) -> str:
        """Address of `path` (`runs/x/#KL-05-1`); relative to the root of the site where that is not known."""
        place, mark, anchor = path.partition("#")
        return f"{self.base}{quote(place)}{mark}{quote(anchor)}" or "./"

    def identity(self, path: str) -> str:
        """A name for `path` that no other thing has and that stays: its address, else a UUID."""
        return self.of(path) if self.base else f"urn:uuid:{uuid.uuid5(_NAMES, f'{self.title}/{path}')}"
