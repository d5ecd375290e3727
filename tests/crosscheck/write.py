"""Writes one small run with the official package of a tracker: `python write.py TRACKER FOLDER`.

Runs in an environment that has the packages and nothing of sitegen; `python -m tests.crosscheck` calls it.
The values are those of `RECORDS` in `tests/crosscheck/__main__.py`, given as JSON on standard input.
"""

import json
import os
import sys
from pathlib import Path

PROJECT, NAME = "crosscheck", "grpo-7b"
CONFIG = {"trainer": {"nnodes": 1, "logger": ["console"]}, "data": {"long": "x" * 7000, "dir": None}}


def mlflow_db(folder, records):
    _mlflow(f"sqlite:///{folder}/mlruns.db", records)


def mlflow_files(folder, records):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    _mlflow(f"file://{folder}/mlruns", records)


def _mlflow(uri, records):
    """As verl does: parameters in pieces with `/`, characters replaced that MLflow refuses."""
    import mlflow

    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment(PROJECT)
    with mlflow.start_run(run_name=NAME):
        mlflow.log_params({"trainer/nnodes": 1, "trainer/logger/list_len": 1, "trainer/logger/0": "console"})
        mlflow.log_params({"data/long": CONFIG["data"]["long"][:6000], "data/dir": None})
        for step, row in records:
            mlflow.log_metrics({name.replace("@", "_at_"): value for name, value in row.items()}, step=step)


def trackio(folder, records):
    os.environ["TRACKIO_DIR"] = str(folder)
    import trackio as tracker

    tracker.init(project=PROJECT, name=NAME, config=CONFIG, embed=False)
    for step, row in records:
        tracker.log(row, step=step)
    tracker.finish()


def swanlab(folder, records):
    os.chdir(folder)
    import swanlab as tracker

    tracker.init(project=PROJECT, experiment_name=NAME, config=CONFIG, mode="offline", logdir="swanlog")
    for step, row in records:
        tracker.log(row, step=step)
    tracker.finish()


def clearml(folder, records):
    os.environ.update(CLEARML_OFFLINE_MODE="1", CLEARML_CACHE_DIR=str(folder), HOME=str(folder))
    from clearml import Task

    Task.set_offline(True)
    task = Task.init(
        project_name=PROJECT, task_name=NAME, auto_connect_frameworks=False, auto_resource_monitoring=False
    )
    task.connect_configuration(CONFIG, name="Hyperparameters")
    for step, row in records:
        for name, value in row.items():
            title, series = name.split("/", 1)
            task.get_logger().report_scalar(title, series, value=value, iteration=step)
    task.close()


if __name__ == "__main__":
    tracker, folder = sys.argv[1:]
    rows = [(step, {name: float(text) for name, text in row.items()}) for step, row in json.load(sys.stdin)]
    globals()[tracker](Path(folder).resolve(), rows)
