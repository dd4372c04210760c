"""Times in cells, as the store keeps them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_OURS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def utc(cell: str) -> str | None:
    """The time of a cell in UTC; None if it is none. A time without a zone is taken to be UTC.

    >>> utc("2026-11-30 12:00"), utc("2026/11/30"), utc("1764504000"), utc("soon")
    ('2026-11-30T12:00:00.000000Z', '2026-11-30T00:00:00.000000Z', '2025-11-30T12:00:00.000000Z', None)
    """
    if not cell or _OURS.fullmatch(cell):
        return cell or None
    try:
        if re.fullmatch(r"\d{10}(\d{3})?(\.\d+)?", cell):
            seconds = float(cell) / (1000 if float(cell) > 1e11 else 1)
            found = datetime.fromtimestamp(seconds, UTC)
        else:
            found = datetime.fromisoformat(cell.replace("/", "-").strip())
    except (ValueError, OverflowError):
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return found.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
