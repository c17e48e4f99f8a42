"""Every REST endpoint, on one page. Paths have no trailing slash; everything is under /api/v1."""

from django.urls import path, register_converter

from agents.views import agents, documents, rows, versions
from agents.views.receipts import AgentReceiptListView
from common.api.converters import CodeConverter, IdConverter
from common.api.endpoints import me, openapi, receipts
from evolution.cycles import views as cycles
from evolution.knowledge.views import injections, knowledge, outcomes
from evolution.lessons.views import capture, checks, lessons, metrics, recall
from evolution.parameters import views as parameters
from evolution.patterns import views as patterns
from evolution.proposals.views import parameters as parameter_doors
from evolution.proposals.views import proposals, reports, teachings
from prompt.views import PromptView

register_converter(IdConverter, "id")
register_converter(CodeConverter, "code")

AGENT = "agents/<id:pk>"
DOCUMENT = f"{AGENT}/documents/<id:document_id>"
LESSON = "lessons/<code:lesson>"

urlpatterns = [
    path("me", me.MeView.as_view(), name="me"),
    # Agents and their rows
    path("agents", agents.AgentListView.as_view(), name="agents"),
    path(AGENT, agents.AgentDetailView.as_view(), name="agent"),
    path(f"{AGENT}/copy", agents.AgentCopyView.as_view(), name="agent-copy"),
    path(f"{AGENT}/export", agents.AgentExportView.as_view(), name="agent-export"),
    path(f"{AGENT}/experiences", rows.RowListView.as_view(), name="agent-experiences"),
    path(f"{AGENT}/experiences/<id:row_id>", rows.RowDetailView.as_view(), name="agent-experience"),
    # The prompt
    path(f"{AGENT}/prompt", PromptView.as_view(), name="agent-prompt"),
    # Versions
    path(f"{AGENT}/versions", versions.VersionListView.as_view(), name="agent-versions"),
    path(f"{AGENT}/versions/<id:number>", versions.VersionDetailView.as_view(), name="agent-version"),
    path(f"{AGENT}/versions/diff", versions.VersionDiffView.as_view(), name="agent-versions-diff"),
    path(
        f"{AGENT}/versions/<id:number>/restore",
        versions.VersionRestoreView.as_view(),
        name="agent-version-restore",
    ),
    # Documents
    path(f"{AGENT}/documents", documents.DocumentListView.as_view(), name="agent-documents"),
    path(DOCUMENT, documents.DocumentDetailView.as_view(), name="agent-document"),
    path(
        f"{DOCUMENT}/versions",
        documents.DocumentVersionListView.as_view(),
        name="agent-document-versions",
    ),
    path(
        f"{DOCUMENT}/versions/<id:number>",
        documents.DocumentVersionDetailView.as_view(),
        name="agent-document-version",
    ),
    path(f"{DOCUMENT}/diff", documents.DocumentDiffView.as_view(), name="agent-document-diff"),
    # Receipts
    path("receipts", receipts.ReceiptListView.as_view(), name="receipts"),
    path("receipts/verify", receipts.ReceiptVerifyView.as_view(), name="receipts-verify"),
    path("receipts/<id:receipt_id>", receipts.ReceiptDetailView.as_view(), name="receipt"),
    path(f"{AGENT}/receipts", AgentReceiptListView.as_view(), name="agent-receipts"),
    # Proposals
    path("teachings", teachings.TeachingView.as_view(), name="teachings"),
    path("proposals", proposals.ProposalListView.as_view(), name="proposals"),
    path("proposals/health", reports.HealthView.as_view(), name="proposals-health"),
    path("audit", reports.AuditView.as_view(), name="audit"),
    path("proposals/<code:code>", proposals.ProposalDetailView.as_view(), name="proposal"),
    path("proposals/<code:code>/text", proposals.ProposalTextView.as_view(), name="proposal-text"),
    path(
        "proposals/<code:code>/items/<id:number>",
        proposals.ProposalItemView.as_view(),
        name="proposal-item",
    ),
    *[
        path(f"proposals/<code:code>/{verb}", view.as_view(), name=f"proposal-{verb}")
        for verb, view in proposals.VERBS.items()
    ],
    # Parameters
    path("parameters", parameters.ParameterListView.as_view(), name="parameters"),
    path(
        "parameters/<slug:name>/changes",
        parameters.ParameterChangeListView.as_view(),
        name="parameter-changes",
    ),
    path(
        "parameters/<slug:name>/propose",
        parameter_doors.ProposeParameterView.as_view(),
        name="parameter-propose",
    ),
    path(
        "parameter-changes/<id:change_id>/revert",
        parameter_doors.RevertChangeView.as_view(),
        name="parameter-change-revert",
    ),
    # Lessons
    path("lessons", lessons.LessonListView.as_view(), name="lessons"),
    path("lessons/index", lessons.LessonIndexView.as_view(), name="lessons-index"),
    path("lessons/template", lessons.LessonTemplateView.as_view(), name="lessons-template"),
    path("lessons/recall", recall.RecallView.as_view(), name="lessons-recall"),
    path("recalls/<uuid:recall_id>/outcome", recall.OutcomeView.as_view(), name="recall-outcome"),
    path("lessons/capture", capture.CaptureView.as_view(), name="lessons-capture"),
    path("lessons/check", checks.CheckView.as_view(), name="lessons-check"),
    path("lessons/metrics", metrics.MetricsView.as_view(), name="lessons-metrics"),
    path(LESSON, lessons.LessonDetailView.as_view(), name="lesson"),
    path(f"{LESSON}/markdown", lessons.LessonMarkdownView.as_view(), name="lesson-markdown"),
    *[
        path(f"{LESSON}/{verb}", view.as_view(), name=f"lesson-{verb}")
        for verb, view in lessons.VERBS.items()
    ],
    # Knowledge
    path("knowledge", knowledge.KnowledgeListView.as_view(), name="knowledge"),
    path("knowledge/known-issues", knowledge.KnownIssueListView.as_view(), name="known-issues"),
    path("knowledge/<code:knowledge>", knowledge.KnowledgeDetailView.as_view(), name="knowledge-item"),
    *[
        path(f"knowledge/<code:knowledge>/{verb}", view.as_view(), name=f"knowledge-{verb}")
        for verb, view in knowledge.VERBS.items()
    ],
    path(
        "knowledge/<code:knowledge>/outcomes",
        outcomes.KnowledgeOutcomesView.as_view(),
        name="knowledge-outcomes",
    ),
    path("outcomes", outcomes.OutcomesView.as_view(), name="outcomes"),
    path("injections", injections.InjectionsView.as_view(), name="injections"),
    path("injections/<uuid:injection_id>", injections.InjectionView.as_view(), name="injection"),
    # Learning
    path("learning-items", cycles.LearningItemListView.as_view(), name="learning-items"),
    path("patterns", patterns.PatternListView.as_view(), name="patterns"),
    path("patterns/scan", patterns.ScanView.as_view(), name="patterns-scan"),
    path("patterns/suggest", patterns.SuggestView.as_view(), name="patterns-suggest"),
    path("patterns/<code:pattern>", patterns.PatternDetailView.as_view(), name="pattern"),
    path("patterns/<code:pattern>/scaffold", patterns.ScaffoldView.as_view(), name="pattern-scaffold"),
    *[
        path(f"patterns/<code:pattern>/{verb}", view.as_view(), name=f"pattern-{verb}")
        for verb, view in patterns.VERBS.items()
    ],
    path("learning-items/process", cycles.ProcessView.as_view(), name="learning-items-process"),
    # This document
    path("schema", openapi.SchemaView.as_view(), name="schema"),
    path("docs", openapi.DocsView.as_view(), name="docs"),
]
