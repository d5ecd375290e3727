"""The one place where drawn text becomes Markup."""

from __future__ import annotations

from markupsafe import Markup


def drawn(text: str) -> Markup:
    """Mark `text` as finished HTML. Callers have escaped every word that did not come from this package."""
    return Markup(text)  # noqa: S704
