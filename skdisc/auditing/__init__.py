"""Audits: one question, one answer, from all detectors that can say something about it."""

from skdisc.auditing._audit import Audit
from skdisc.auditing._audit_report import AuditReport

__all__ = ["Audit", "AuditReport"]
