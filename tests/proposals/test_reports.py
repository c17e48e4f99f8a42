"""The list, the audit view and the health figures over REST."""

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.services.documents import put_document
from evolution.proposals.models import Proposal
from evolution.proposals.services.expiring import expire_overdue
from tests.factories import SYSTEM, ApiClient, an_edit, make_agent, make_key
from tests.proposals.samples import LESSON, NOTE, PERSONA, PREFERENCE, PRINCIPLES, RULE, note, whole

pytestmark = pytest.mark.django_db
SIGNED = {"reason": "gut", "confirmation": "运维"}


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="运维", documents=[("principles.md", PRINCIPLES), ("persona.md", PERSONA)])


@pytest.fixture
def history(runtime, reviewer, agent):
    """One of each outcome; the newest last."""
    applied = runtime.code(agent, PREFERENCE)
    reviewer.post(f"proposals/{applied}/approve")
    rejected = runtime.code(agent, RULE)
    reviewer.post(f"proposals/{rejected}/reject", {"reason": "nein"})
    skipped = runtime.code(agent, NOTE)
    reviewer.post(f"proposals/{skipped}/skip")
    blocked = runtime.code(agent, whole("persona.md", "# L0\n\nx\n"))
    back = runtime.code(agent, LESSON)
    reviewer.post(f"proposals/{back}/approve")
    reviewer.post(f"proposals/{back}/rollback", {"reason": "doch nicht"})
    waiting = runtime.code(agent, note("wartet"))
    return {
        "applied": applied, "rejected": rejected, "skipped": skipped,
        "blocked": blocked, "rolled_back": back, "pending": waiting,
    }  # fmt: skip


def audited(client, query=""):
    answer = client.get(f"audit{query}")
    assert answer.status_code == 200, answer.content.decode()
    return answer.json()["results"]


# -- the list


def test_the_list_is_newest_first_and_leaves_the_texts_out(runtime, history):
    rows = runtime.get("proposals").json()["results"]
    assert [row["code"] for row in rows] == [f"EP-{number:03d}" for number in range(6, 0, -1)]
    assert {"base_text", "new_text", "diff"}.isdisjoint(rows[0]["items"][0])
    assert rows[0]["items"][0]["content"] == "wartet" and rows[0]["items"][0]["flags"] == []


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?status=rejected", ["rejected"]),
        ("?risk=high", ["rejected"]),
        ("?risk=forbidden", ["blocked"]),
        ("?trigger=explicit_teaching", []),
        ("?status=applied&risk=low", ["applied"]),
    ],
)
def test_the_list_can_be_narrowed(runtime, history, query, names):
    rows = runtime.get(f"proposals{query}").json()["results"]
    assert [row["code"] for row in rows] == [history[name] for name in names]


def test_the_list_of_one_agent(runtime, history, agent, acme):
    other = make_agent(acme, name="b")
    code = runtime.code(other, NOTE)
    assert [row["code"] for row in runtime.get(f"proposals?agent={other.pk}").json()["results"]] == [code]
    assert runtime.get(f"proposals?agent={agent.pk}").json()["count"] == 6


@pytest.mark.parametrize("query", ["?status=strange", "?risk=x", "?trigger=y", "?agent=z"])
def test_a_filter_that_is_none_is_refused(runtime, db, query):
    answer = runtime.get(f"proposals{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")


def test_codes_are_found_in_any_spelling_of_their_number(runtime, history):
    assert runtime.get("proposals/EP-001").json()["code"] == "EP-001"
    for code in ("EP-0001", "EP-999", "EP-1", "XX-001"):
        assert runtime.get(f"proposals/{code}").status_code in (200, 404)
    assert runtime.get("proposals/EP-999").json()["code"] == "NOT_FOUND"


# -- the audit view


def test_the_audit_view_shows_what_became_of_each_point_newest_first(runtime, history):
    rows = audited(runtime)
    assert [(row["code"], row["status"]) for row in rows] == [
        (history["rolled_back"], "rolled_back"),
        (history["blocked"], "blocked"),
        (history["skipped"], "skipped"),
        (history["rejected"], "rejected"),
        (history["applied"], "applied"),
    ]
    last = rows[-1]
    assert (last["type"], last["content"], last["agent"]) == ("user_preference", "用表格", "运维")
    assert last["confirmed_by"] == "reviewer" and last["type_label"] and last["status_label"]


def test_the_confirming_user_of_a_relayed_decision_is_named(runtime, agent):
    code = runtime.code(agent, PREFERENCE)
    runtime.post(f"proposals/{code}/approve", {"decided_by": "u1"})
    assert audited(runtime)[0]["confirmed_by"] == "u1"


@pytest.mark.parametrize("status", ["applied", "rejected", "skipped", "blocked", "rolled_back"])
def test_the_audit_view_of_one_state(runtime, history, status):
    assert [row["code"] for row in audited(runtime, f"?status={status}")] == [history[status]]


def test_the_audit_view_of_a_time_goes_by_when_it_happened(runtime, reviewer, agent, time_machine_at):
    start = timezone.now()
    with time_machine_at(start - timedelta(days=10)):
        code = runtime.code(agent, NOTE)
    reviewer.post(f"proposals/{code}/approve")
    today = timezone.localdate().isoformat()
    assert len(audited(runtime, f"?from={today}&to={today}")) == 1
    past = (timezone.localdate() - timedelta(days=9)).isoformat()
    assert audited(runtime, f"?to={past}") == []


@pytest.mark.parametrize(
    "query", ["?status=pending", "?from=gestern", "?to=2026-13-01", "?agent=x", "?format=xml"]
)
def test_a_question_that_is_none_is_refused(runtime, db, query):
    assert runtime.get(f"audit{query}").status_code == 400


@pytest.mark.parametrize("report", ["audit", "proposals/health"])
@pytest.mark.parametrize(
    "query",
    ["from=0001-01-01", "to=9999-12-31", "to=0001-01-01T00:00:00%2B23:59", "from=9999-12-31T23:59:59-23:59"],
)
def test_a_time_at_the_end_of_the_calendar_is_refused(runtime, db, report, query):
    answer = runtime.get(f"{report}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")


def test_the_audit_view_as_a_table_has_no_formula(runtime, reviewer, agent):
    code = runtime.code(agent, note('=HYPERLINK("http://x","y")'))
    reviewer.post(f"proposals/{code}/approve")
    answer = runtime.get("audit?format=csv", **{"accept-language": "en"})
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0] == ["When", "Agent", "Proposal", "Type", "Summary", "Status", "Confirmed by"]
    assert rows[1][4].startswith("'=") and rows[1][2] == code


def test_reports_are_a_companys_own(history, rival_writer, rival):
    assert audited(rival_writer) == []
    figures = rival_writer.get("proposals/health").json()["figures"]
    assert all(figure["value"] is None for figure in figures)


def test_a_key_of_one_agent_sees_only_its_rows(history, runtime, acme):
    other = make_agent(acme, name="b")
    code = runtime.code(other, NOTE)
    runtime.post("teachings", {"agent": other.pk, "user_id": "u", "text": "记住，我喜欢短句"})
    bound = ApiClient(make_key(acme, scopes=["read"], agent_id=other.pk))
    assert bound.get("proposals").json()["count"] == 2
    assert audited(bound) == []
    assert bound.get(f"proposals/{history['applied']}").status_code == 404
    assert bound.get(f"proposals/{code}").status_code == 200
    figures = {f["key"]: f for f in bound.get("proposals/health").json()["figures"]}
    assert figures["conflict_rate"]["denominator"] == 2


# -- the health figures


def figures(client, query=""):
    answer = client.get(f"proposals/health{query}")
    assert answer.status_code == 200, answer.content.decode()
    return {figure["key"]: figure for figure in answer.json()["figures"]}


def test_without_anything_to_divide_by_a_figure_is_null(runtime, acme):
    make_agent(acme, name="b")
    for figure in figures(runtime).values():
        assert (figure["value"], figure["healthy"], figure["denominator"]) == (None, None, 0)


def test_the_figures_follow_their_formulas(runtime, reviewer, agent):
    codes = [
        runtime.code(agent, note(f"punkt {number}", target=f"memory/{number}.md")) for number in range(5)
    ]
    for code in codes[:4]:
        reviewer.post(f"proposals/{code}/approve")
    reviewer.post(f"proposals/{codes[4]}/reject", {"reason": "r"})
    reviewer.post(f"proposals/{codes[0]}/rollback", {"reason": "r"})
    runtime.code(agent, {**RULE, "content": "禁止先看日志"})
    found = figures(runtime)
    shown = {key: (f["numerator"], f["denominator"], f["value"], f["healthy"]) for key, f in found.items()}
    assert shown == {
        "adoption_rate": (4, 5, 0.8, True),
        "conflict_rate": (1, 6, 0.167, False),
        "rollback_rate": (1, 4, 0.25, False),
        "personality_stability": (1, 1, 1.0, True),
    }


@pytest.mark.parametrize(
    ("applied", "rejected", "healthy"), [(3, 2, False), (5, 3, True), (0, 1, False), (1, 0, True)]
)
def test_adoption_is_healthy_above_sixty_per_cent(runtime, reviewer, agent, applied, rejected, healthy):
    for number in range(applied + rejected):
        code = runtime.code(agent, note(f"punkt {number}", target=f"memory/{number}.md"))
        verb = "approve" if number < applied else "reject"
        reviewer.post(f"proposals/{code}/{verb}", {"reason": "r"})
    assert figures(runtime)["adoption_rate"]["healthy"] is healthy


def test_a_conflict_counts_also_when_it_was_decided(runtime, reviewer, agent):
    code = runtime.code(agent, {**RULE, "content": "禁止先看日志"})
    reviewer.patch(f"proposals/{code}/items/1", {"conflict_choice": "replace"})
    assert figures(runtime)["conflict_rate"]["numerator"] == 1


def test_the_figures_of_a_time_go_by_when_it_was_drafted(runtime, agent, time_machine_at):
    with time_machine_at(timezone.now() - timedelta(days=40)):
        runtime.draft(agent, NOTE)
    recent = (timezone.localdate() - timedelta(days=7)).isoformat()
    assert figures(runtime, f"?from={recent}")["conflict_rate"]["denominator"] == 0
    assert figures(runtime, f"?agent={agent.pk}")["conflict_rate"]["denominator"] == 1


def change_persona(agent, text, by_hand, source):
    return put_document(
        agent=agent,
        company=agent.company,
        path="persona.md",
        text=text,
        edit=an_edit(source=source),
        request="test",
        by_hand=by_hand,
    )


@pytest.mark.parametrize(
    ("source", "value"), [("admin", 1.0), ("import", 1.0), ("restore", 1.0), ("api", 0.0), ("proposal", 0.0)]
)
def test_an_agent_is_stable_while_its_core_is_what_a_person_saved_last(runtime, agent, source, value):
    change_persona(agent, PERSONA + "\n", True, "admin")
    change_persona(agent, PERSONA.replace("秘书", "老板"), True, source)
    assert figures(runtime)["personality_stability"]["value"] == value


def test_changes_outside_the_core_leave_it_stable(runtime, agent):
    change_persona(agent, PERSONA + "\n", True, "admin")
    change_persona(agent, PERSONA.replace("简短", "详细"), True, "api")
    assert figures(runtime)["personality_stability"]["value"] == 1.0


def test_a_core_that_is_gone_is_not_stable_and_an_agent_without_one_does_not_count(runtime, acme, agent):
    make_agent(acme, name="b", documents=[("persona.md", "# 别的\n")])
    change_persona(agent, PERSONA + "\n", True, "admin")
    change_persona(agent, "# 别的\n", True, "api")
    found = figures(runtime)["personality_stability"]
    assert (found["numerator"], found["denominator"]) == (0, 1)


def test_expired_ones_are_neither_adopted_nor_rejected(runtime, agent):
    runtime.draft(agent, NOTE)
    expire_overdue(actor=SYSTEM, now=timezone.now() + timedelta(days=31))
    assert Proposal.objects.get().status == "expired"
    assert figures(runtime)["adoption_rate"]["value"] is None


def test_in_chinese_the_table_has_the_words_of_the_audit_view(runtime, history):
    answer = runtime.get("audit?format=csv", **{"accept-language": "zh-hans"})
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0][0] == "时间" and rows[0][3:] == ["类型", "内容摘要", "状态", "确认人"]
    assert [row[5] for row in rows[1:]] == ["已回滚", "已阻断", "已跳过", "已拒绝", "已应用"]
    assert rows[-1][3] == "偏好学习"
