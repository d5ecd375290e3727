"""What the runs of a project were given to try."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model import Run
from sitegen.reports.projects import projects, slug
from tests.reports.test_compare import run as bare


def run(name: str, project: str = "p", **config: str) -> Run:
    return replace(
        bare(name), project=project, config={key.replace("__", "."): text for key, text in config.items()}
    )


def test_columns_are_settings_that_differ_and_keys_that_vary_alike_share_one() -> None:
    (found,) = projects(
        [
            run(
                "a", actor__lr="1e-6", actor__optim__lr="1e-6", data__batch="8", trainer__experiment_name="a"
            ),
            run(
                "b",
                actor__lr="2e-6",
                actor__optim__lr="2e-6",
                data__batch="8.0",
                trainer__experiment_name="b",
            ),
        ]
    )
    assert [(one.key, one.also, dict(one.values)) for one in found.varied] == [
        ("actor.lr", ("actor.optim.lr",), {"a": "1e-6", "b": "2e-6"})
    ]


def test_a_key_that_only_some_log_is_a_column_where_its_values_differ() -> None:
    (found,) = projects([run("a", kl="0.1", only="x"), run("b", kl="0.2"), run("c", kl="0.1")])
    assert [one.key for one in found.varied] == ["kl"]
    (found,) = projects([run("a", kl="0.1"), run("b"), run("c", kl="0.2"), run("d", other="1")])
    assert dict(found.varied[0].values) == {"a": "0.1", "c": "0.2"}


def test_of_more_than_eight_the_rest_is_named_only_and_seeds_come_last() -> None:
    first = {f"key_{k}": str(k) for k in range(8)}
    other = {key: f"{text}1" for key, text in first.items()}
    (found,) = projects([run("a", seed="1", **first), run("b", seed="2", **other)])
    assert [one.key for one in found.varied] == [f"key_{k}" for k in range(8)]
    assert found.more == ("seed",)


def test_projects_are_by_name_and_runs_without_one_are_in_none() -> None:
    found = projects([run("a", "z"), run("b", "a"), replace(run("c"), project=None)])
    assert [(one.name, one.runs) for one in found] == [("a", ("b",)), ("z", ("a",))]


def test_names_that_read_alike_have_addresses_of_their_own() -> None:
    names = ["math", "Math", "math!", "数学", "<b>math</b>", "../math", "m" * 300, "m" * 301]
    found = [slug(name) for name in names]
    assert len(set(found)) == len(names)
    assert found[0] == "math"
    assert all(
        one and len(one) < 80 and set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for one in found
    )
