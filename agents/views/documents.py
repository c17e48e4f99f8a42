"""GET|PUT /agents/{id}/documents and what hangs below."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Document, DocumentVersion
from agents.rules.documents import MAX_NOTE
from agents.rules.fields import checked_remark
from agents.rules.paths import normalise_path, path_key
from agents.selectors import documents_readable
from agents.serializers import (
    DocumentDetailSerializer,
    DocumentDiffSerializer,
    DocumentInputSerializer,
    DocumentSerializer,
    DocumentVersionDetailSerializer,
    DocumentVersionSerializer,
)
from agents.services.documents import put_document
from agents.services.editing import Edit
from agents.views.base import WRITE, AgentsView
from agents.views.versions import DIFF_PARAMETERS, number_param
from common.api.versions import etag
from common.api.views import FieldbookListView, validated
from common.diff import unified
from common.errors import ApplicationError


class DocumentBase(AgentsView):
    """Finds documents and versions as the caller may see them."""

    staff_permissions = {"GET": "agents.view_document", "PUT": "agents.change_document"}

    def document(self, pk: int, document_id: int) -> Document:
        document = documents_readable(self.agent(pk), self.caller.company).filter(pk=document_id).first()
        if document is None:
            raise ApplicationError("NOT_FOUND", _("No such document of this agent."))
        return document

    def version(self, document: Document, number: int) -> DocumentVersion:
        version = DocumentVersion.objects.filter(document=document, number=number).first()
        if version is None:
            raise ApplicationError(
                "NOT_FOUND", _("The document has no version %(number)d.") % {"number": number}
            )
        return version


class DocumentListView(DocumentBase, FieldbookListView):
    """The documents of an agent; write one."""

    scopes = {"PUT": WRITE}

    @extend_schema(
        parameters=[OpenApiParameter("path", str, description="Only the document of this path")],
        responses=DocumentSerializer(many=True),
    )
    def get(self, request: Request, pk: int) -> Response:
        documents = documents_readable(self.agent(pk), self.caller.company, with_text=False)
        path = request.query_params.get("path")
        if path is not None:
            documents = documents.filter(path_key=path_key(normalise_path(path)))
        return self.page_of(documents.select_related("company"), DocumentSerializer)

    @extend_schema(
        request=DocumentInputSerializer,
        responses={200: DocumentDetailSerializer, 201: DocumentDetailSerializer},
    )
    def put(self, request: Request, pk: int) -> Response:
        agent = self.agent(pk)
        fields = validated(DocumentInputSerializer, request.data)
        written = put_document(
            agent=agent,
            company=self.caller.company,
            path=fields["path"],
            text=fields["text"],
            note=checked_remark("/note", fields.get("note"), MAX_NOTE),
            edit=self._edit_of(fields),
            request=f"PUT /agents/{pk}/documents",
        )
        document = self.document(pk, written.document.pk)
        created = written.changed and document.current_version == 1
        return Response(
            DocumentDetailSerializer(document).data,
            status=201 if created else 200,
            headers={"ETag": etag(document.current_version)},
        )

    def _edit_of(self, fields: dict[str, Any]) -> Edit:
        """`base_version` names the version that was read just as `If-Match` does; both must agree."""
        if "base_version" not in fields:
            return self.edit()
        edit = self.edit(names_version=False)
        base = {fields["base_version"] or 0}
        return replace(edit, expected=base if edit.expected is None else base & set(edit.expected))


class DocumentDetailView(DocumentBase):
    """One document with its text."""

    @extend_schema(responses=DocumentDetailSerializer)
    def get(self, request: Request, pk: int, document_id: int) -> Response:
        document = self.document(pk, document_id)
        return Response(
            DocumentDetailSerializer(document).data, headers={"ETag": etag(document.current_version)}
        )


class DocumentVersionListView(DocumentBase, FieldbookListView):
    """The versions of a document, newest first."""

    @extend_schema(responses=DocumentVersionSerializer(many=True))
    def get(self, request: Request, pk: int, document_id: int) -> Response:
        versions = self.document(pk, document_id).versions.order_by("-number", "-id").defer("text")
        return self.page_of(versions, DocumentVersionSerializer)


class DocumentVersionDetailView(DocumentBase):
    """One version with its text."""

    @extend_schema(responses=DocumentVersionDetailSerializer)
    def get(self, request: Request, pk: int, document_id: int, number: int) -> Response:
        version = self.version(self.document(pk, document_id), number)
        return Response(DocumentVersionDetailSerializer(version).data)


class DocumentDiffView(DocumentBase):
    """Unified diff between two versions of a document."""

    @extend_schema(parameters=DIFF_PARAMETERS, responses=DocumentDiffSerializer)
    def get(self, request: Request, pk: int, document_id: int) -> Response:
        document = self.document(pk, document_id)
        old = self.version(document, number_param(request, "from"))
        new = self.version(document, number_param(request, "to"))
        labels = (f"{document.path} v{old.number}", f"{document.path} v{new.number}")
        text = unified(old.text, new.text, *labels)
        return Response({"path": document.path, "from": old.number, "to": new.number, "diff": text})
