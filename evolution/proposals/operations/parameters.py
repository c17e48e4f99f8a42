"""Parameters of the company. As text a value is JSON: `5`, `-0.1`, `["debugging"]`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from agents.services.editing import Edit
from common.errors import ApplicationError, invalid
from evolution.parameters.rules.specs import as_text, check_order, from_text, spec_of
from evolution.parameters.selectors import parameters_of, value_of, with_value
from evolution.parameters.services import Approval, set_parameter
from evolution.proposals.operations.base import Applied, Current, Operation, Place, Result, Reversal, Wanted
from evolution.proposals.rules.reverse import rollback_conflict

SET_PARAMETER = "set_parameter"
TARGET = "parameters"


def target_of(name: str) -> str:
    """The target of a parameter."""
    return f"{TARGET}/{name}"


def name_of(target: str) -> str:
    """The parameter that a target names. Errors: VALIDATION_ERROR, NOT_FOUND."""
    folder, _slash, name = target.strip().casefold().partition("/")
    if folder != TARGET:
        raise invalid("/target", _("The target of a parameter is parameters/<name>."))
    return spec_of(name).name


class SetParameter(Operation):
    """Another value of one parameter. It belongs to the company: no agent's body changes."""

    keeps_faulty = False

    def normalised(self, place: Place) -> Place:
        return replace(place, target=target_of(name_of(place.target)), new_target="")

    def touches_body(self, place: Place) -> bool:
        return False

    def current(self, place: Place) -> Current:
        return Current(as_text(value_of(place.company.pk, name_of(place.target))))

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        text = wanted.new_text if wanted.new_text is not None else wanted.content
        return as_text(from_text(name_of(place.target), text))

    def check(self, place: Place, new_text: str | None) -> None:
        name = name_of(place.target)
        before = {
            name_of(target): from_text(name_of(target), text)
            for target, text in place.beside.items()
            if text is not None and target.startswith(f"{TARGET}/")
        }
        values = with_value(parameters_of(place.company.pk), before)
        check_order(with_value(values, {name: from_text(name, new_text or "")}))

    def lines(self, base: str | None) -> Iterable[str]:
        return ()

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        told = place.approved
        approval = Approval(code, told.by, told.reason, told.reverts)
        return self._set(place, told.base, new_text, approval, edit)

    def reversal(self, place: Place, item: Applied) -> Reversal:
        now = self.current(place).text
        if now != item.new_text:
            raise rollback_conflict(
                self.as_file(item.new_text), self.as_file(now), _("The parameter has been changed since.")
            )
        try:
            self.check(place, item.base_text)
        except ApplicationError as error:
            raise rollback_conflict(self.as_file(item.new_text), self.as_file(now), error.message) from error
        return Reversal(item.base_text, self.protected_changes(place, now, item.base_text))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        approval = Approval(code, edit.actor.name, note, item.result.get("parameter_change"))
        return self._set(place, item.new_text, reversal.text, approval, edit)

    def _set(
        self, place: Place, before: str | None, after: str | None, approval: Approval, edit: Edit
    ) -> Result:
        name = name_of(place.target)
        change = set_parameter(
            company_id=place.company.pk,
            name=name,
            value=from_text(name, after or ""),
            expected=from_text(name, before or ""),
            approval=approval,
            now=edit.now,
        )
        return Result(values={"parameter_change": change.pk} if change else {})
