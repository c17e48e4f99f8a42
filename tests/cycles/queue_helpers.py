"""Reports and what is made of them, for the tests of the learning queue."""

from evolution.cycles.services import effects
from evolution.cycles.services.effects import Effect
from evolution.knowledge.models import LearningItem

FIX = {"error_type": "TimeoutError", "root_cause": "pool too small", "solution": "raise the pool"}


def reported(client, source_id="e-1", status=201, **fields):
    """The answer to a report, an error fix unless `fields` say otherwise."""
    body = {"source_type": "error_fix", "source_id": source_id, "metadata": FIX, **fields}
    answer = client.post("learning-items", body)
    assert answer.status_code == status, answer.content.decode()
    return answer.json()


def items():
    return list(LearningItem.objects.order_by("number"))


def instead(monkeypatch, effect):
    """Let every kind of report have this effect: a function of the item, or an error to raise."""

    def act(item, actor, now):
        if isinstance(effect, Exception):
            raise effect
        return effect(item) if callable(effect) else effect

    monkeypatch.setattr(effects, "_EFFECTS", dict.fromkeys(effects._EFFECTS, act))


NOTHING = Effect(note="nothing new")
