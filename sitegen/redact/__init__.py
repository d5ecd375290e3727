"""Secrets leave a text before it is stored.

A secret is replaced by a stable mark such as `[redacted:hf-token]`, so that two builds give the same bytes
and a reader sees what kind of thing stood there. The rules look for shapes that nothing else has (a Hugging
Face token) or for a name that gives the value away (`WANDB_API_KEY=`). A W&B key alone is 40 hex digits, as a
git commit is: it is redacted only where its surroundings say what it is. Metric names, commits, paths and
token counts stay. A site may add patterns of its own and keep the addresses of some domains (`using`).
"""

from sitegen.redact.site import asks, using
from sitegen.redact.text import redact, redact_name, redact_value

__all__ = ["asks", "redact", "redact_name", "redact_value", "using"]
