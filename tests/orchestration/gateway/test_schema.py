"""The schema: linted, its generated code current, and no word of the messages missing from it."""

from pathlib import Path

import pytest

from environment.lineage import NodeKind, Standing
from environment.messages import ChangeKind, EntryKind, SubmindState, ThoughtKind
from environment.population import GrowthKind
from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, growth_pb2, mind_pb2
from orchestration.schema.fields import numbers
from orchestration.view.status import MindState

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("enum", "words"),
    [
        (consciousness_pb2.EntryKind, EntryKind),
        (consciousness_pb2.ExplanationKind, NodeKind),
        (consciousness_pb2.Standing, Standing),
        (environment_pb2.ThoughtKind, ThoughtKind),
        (growth_pb2.GrowthKind, GrowthKind),
        (mind_pb2.ChangeKind, ChangeKind),
        (mind_pb2.SubmindState, SubmindState),
        (mind_pb2.MindState, MindState),
    ],
)
def test_every_word_has_its_number(enum, words):
    assert set(numbers(enum.DESCRIPTOR)) == {word.value for word in words}


def test_no_setting_is_wider_than_the_schema():
    bounds = {
        name: next(one.le for one in field.metadata if hasattr(one, "le"))
        for name, field in IntakeSettings.model_fields.items()
        if name in {"batch", "text_bytes", "image_bytes", "telemetry_names", "labels", "label_bytes"}
    }
    text = (ROOT / "proto/submind/v1/perception.proto").read_text()
    for rule in (
        f"repeated.max_items = {bounds['batch']}",
        f"string.max_bytes = {bounds['text_bytes']}",
        f"bytes.max_len = {bounds['image_bytes']}",
        f"max_pairs: {bounds['telemetry_names']}",
        f"max_pairs: {bounds['labels']}",
        f"string: {{max_bytes: {bounds['label_bytes']}}}",
    ):
        assert rule in text
