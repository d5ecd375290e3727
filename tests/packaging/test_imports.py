"""What importing sitegen costs: none of the packages that wrote the logs."""

from __future__ import annotations

import subprocess
import sys

TRACKERS = (
    "tensorboard", "tensorflow", "torch", "wandb", "mlflow", "swanlab", "trackio", "clearml",
    "google.protobuf",
)  # fmt: skip
EVERYTHING = """
import importlib, pkgutil, sys, sitegen
for module in pkgutil.walk_packages(sitegen.__path__, "sitegen."):
    if module.name != "sitegen.__main__":
        importlib.import_module(module.name)
print(*sys.modules)
"""


def test_no_module_of_sitegen_imports_a_tracker() -> None:
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "sitegen.ingest.wandb_log" in loaded
    assert [name for name in TRACKERS if name in loaded] == []
