"""Logs runs to an MLflow server with its own client: `python seed_mlflow.py URI WHAT`, results as JSON.

Runs in the environment of `make trackers`.
"""

import json
import math
import sys

import mlflow
from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

START = 1_767_225_600_000
MANY = 26_000


def record(client, run, step, values, time):
    """As verl logs a record: all values of a step at one time."""
    client.log_batch(run, metrics=[Metric(name, value, time, step) for name, value in values.items()])


def first(client):
    """Two experiments: one with an awkward run and one of many values, the other with a running one."""
    math_id = client.create_experiment("demo/math")
    run = client.create_run(math_id, run_name="grpo 7b", start_time=START).info.run_id
    odd = [0.1, math.nan, math.inf, -math.inf, 5e-324, 1.5e308, -3.0000000000000004, 7]
    for i, value in enumerate(odd):
        record(client, run, i, {"actor/grad_norm": value, "critic/score/mean": -value / 3}, START + i)
    for i, step in enumerate((3, 4, 5)):  # a resume, whose first two records share a millisecond
        values = {"actor/grad_norm": 0.25 * step, "critic/score/mean": 1.5 * step, "actor": 1.0}
        record(client, run, step, values, START + 60_000 + i // 2)
    client.log_batch(
        run,
        params=[Param("trainer/nnodes", "1"), Param("data/long", "x" * 6000), Param("optim/lr", "1e-06")],
        tags=[RunTag("mlflow.source.git.commit", "c" * 40), RunTag("mlflow.source.name", "main_ppo.py")],
    )
    client.set_terminated(run, "FINISHED", START + 120_000)
    many = client.create_run(math_id, run_name="many", start_time=START + 1).info.run_id
    for at in range(0, MANY, 1000):
        values = [Metric("actor/big", i + 0.5, START + i, i) for i in range(at, min(MANY, at + 1000))]
        client.log_batch(many, metrics=values)
    client.log_metric(many, "x", 1.0, START, 0)
    client.set_terminated(many, "KILLED", START + 120_000)
    other = going(client, "other")
    return {"grpo": run, "many": many, **other}


def going(client, experiment="going"):
    """A run that has not ended."""
    run = client.create_run(
        client.create_experiment(experiment), run_name="going", start_time=START
    ).info.run_id
    for step in range(1, 4):
        record(client, run, step, {"actor/grad_norm": 0.5 * step}, START + step)
    return {"going": run}


def samples(client):
    """Validation samples of one run as verl leaves them, and traces of another."""
    experiment = client.create_experiment("traced")
    run = client.create_run(experiment, run_name="agent", start_time=START).info.run_id
    record(client, run, 1, {"x": 0.5}, START)
    client.log_dict(run, [{"input": "q", "output": "a", "score": 0.5}], "val_step1.json")
    client.log_dict(run, {"not": "ours"}, "other.json")
    mlflow.set_experiment("traced")
    mlflow.start_run(run)
    for i in range(3):
        with mlflow.start_span("AgentLoop.run"):
            tags = {"step": str(i), "sample_index": "0", "rollout_n": "0", "experiment_name": "agent"}
            mlflow.update_current_trace(tags=tags)
            with mlflow.start_span("CalcTool.execute") as tool:
                tool.set_inputs({"a": i})
                tool.set_outputs("4")
    mlflow.flush_trace_async_logging()
    mlflow.end_run()
    return {"agent": run}


def more(client, run):
    """The running one goes back to a step and on: the newest step of the list does not tell."""
    record(client, run, 2, {"actor/grad_norm": 9.0}, START + 1000)
    return {}


def end(client, run):
    client.set_terminated(run, "FINISHED", START + 120_000)
    return {}


def delete(client, run):
    client.delete_run(run)
    return {}


if __name__ == "__main__":
    uri, what, *arguments = sys.argv[1:]
    mlflow.set_tracking_uri(uri)
    sys.stdout.write(json.dumps(globals()[what](MlflowClient(), *arguments)) + "\n")
