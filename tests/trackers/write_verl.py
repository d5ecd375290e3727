"""Logs a run with verl's own `Tracking`: `python write_verl.py BACKEND`, into the current folder.

Runs in the environment of `make trackers`. What to log comes as JSON on standard input. Of verl only the
modules that log are loaded, by path: the whole of it needs Ray and torch. verl's code runs as it is. Where
torch is absent, what stands for its SummaryWriter writes through TensorBoard's own, as torch's does.
"""

import importlib.util
import json
import os
import sys
import time
import types
from pathlib import Path

BACKENDS = {
    "console": {},
    "file": {},
    "tensorboard": {},
    "wandb": {"WANDB_MODE": "offline", "WANDB_SILENT": "true"},
    "mlflow": {"MLFLOW_TRACKING_URI": "sqlite:///mlruns.db"},
    "swanlab": {"SWANLAB_MODE": "offline"},
    "trackio": {"TRACKIO_DIR": "trackio"},
    "clearml": {"CLEARML_OFFLINE_MODE": "1", "CLEARML_CACHE_DIR": "clearml"},
}


def packages():
    """verl's packages without what their `__init__` imports."""
    folder = Path(next(iter(importlib.util.find_spec("verl").submodule_search_locations)))
    for name, path in (("verl", folder), ("verl.utils", folder / "utils")):
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = [str(path)]


def torch(backend):
    """A module `torch` with its SummaryWriter, where there is none and verl imports it."""
    if backend not in ("console", "tensorboard") or importlib.util.find_spec("torch") is not None:
        return
    for name in ("torch", "torch.utils", "torch.utils.tensorboard"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torch.utils.tensorboard"].SummaryWriter = SummaryWriter


class SummaryWriter:
    """What torch's does of which verl makes use: float32 as `simple_value`, text as a tensor."""

    def __init__(self, log_dir):
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._events = EventFileWriter(log_dir)

    def add_scalar(self, tag, value, step):
        self._add(step, tag=tag, simple_value=float(value))

    def add_text(self, tag, text, step):
        from tensorboard.compat.proto import summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

        plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
        shape = tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)])
        tensor = tensor_pb2.TensorProto(
            dtype=types_pb2.DT_STRING, string_val=[text.encode()], tensor_shape=shape
        )
        metadata = summary_pb2.SummaryMetadata(plugin_data=plugin)
        self._add(step, tag=f"{tag}/text_summary", metadata=metadata, tensor=tensor)

    def _add(self, step, **value):
        from tensorboard.compat.proto import event_pb2, summary_pb2

        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)])
        self._events.add_event(event_pb2.Event(wall_time=time.time(), step=int(step), summary=summary))

    def flush(self):
        self._events.flush()

    def close(self):
        self._events.close()


def main(backend, said):
    packages()
    torch(backend)
    import numpy as np
    from verl.utils.tracking import Tracking, ValidationGenerationsLogger

    project, experiment = said["project"], said["experiment"]
    tracking = Tracking(project, experiment, default_backend=[backend], config=said["config"])
    samples = ValidationGenerationsLogger(project_name=project, experiment_name=experiment)
    for step, row in said["records"]:
        tracking.log({name: np.float64(text) for name, text in row.items()}, step=step)
        if found := said["samples"].get(str(step)):
            samples.log(tracking.logger, [tuple(one) for one in found], step)
    tracking.finish()


if __name__ == "__main__":
    os.environ.update({**BACKENDS[sys.argv[1]], **os.environ})
    main(sys.argv[1], json.load(sys.stdin))
