import pytest

from orchestration.cli.tree import settings_tree
from orchestration.membership.errors import ConfigurationRefused
from orchestration.membership.tunables import TUNABLE, tunable_paths, tuned, value_at
from orchestration.settings import Settings


def test_every_tunable_setting_is_one_and_has_one_reason() -> None:
    known = {setting.dotted for setting in settings_tree() if not setting.section}
    paths = tunable_paths()
    assert set(paths) <= known
    assert len(paths) == sum(
        len(type(value_at(Settings(), path[:-2])).model_fields) if path.endswith(".*") else 1
        for kind in TUNABLE
        for path in kind.paths
    ), "a setting is named twice"
    assert all(len(why) > 20 for why in paths.values())


@pytest.mark.parametrize("section", ["mind", "gateway", "feed", "runtime", "host", "coordination", "shell"])
def test_who_a_mind_is_and_what_it_was_started_with_are_not(section: str) -> None:
    assert not [path for path in tunable_paths() if path.startswith(f"{section}.")]
    assert not [path for path in tunable_paths() if "file" in path or "server" in path or "embedder" in path]


def test_values_lie_over_the_file_and_leave_it_alone() -> None:
    base = Settings.model_validate({"mind": {"name": "ada"}, "attention": {"per_hour": 9, "hold": "2m"}})
    settings = tuned(base, {"attention.per_hour": 3, "environment.half_life.percept": "90m"})
    assert (settings.attention.per_hour, settings.attention.hold) == (3, 120)
    assert settings.environment.half_life.percept == 5400
    assert settings.mind == base.mind
    assert base.attention.per_hour == 9
    assert tuned(base, {}) == base


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        tuned(Settings(), {"attention.per_hour": 0, "environment.floor": 2})
    assert len(caught.value.problems) == 2
    assert str(caught.value).count("the live configuration: ") == 2
