"""Audits: one question, one answer, from all detectors that can say something about it."""

from skdisc.auditing._audit import Audit
from skdisc.auditing._audit_report import AuditReport
from skdisc.auditing._beside._compare import AuditComparison
from skdisc.auditing._public import public_counts
from skdisc.auditing._verify import verify

__all__ = ["Audit", "AuditComparison", "AuditReport", "public_counts", "verify"]
