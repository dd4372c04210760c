"""Runs and plans in sentences, the same in the terminal and on the pages."""

from __future__ import annotations

from data.runs.plan import Plan
from evaluators.verdict import shown_score

NOT_OK = ("unreadable", "refused", "failed", "skipped")
UNKNOWN = "unknown"


def money(amount: float | None, currency: str | None) -> str:
    """An amount for people: `0.00 USD` when it is free, `unknown` when it is not known, no fraction hidden."""
    if amount is None:
        return UNKNOWN
    if 0 < amount < 0.0001:
        return f"under 0.0001 {currency}"
    return f"{amount:,.{2 if amount == 0 or amount >= 1 else 4}f} {currency}".strip()


def cost_words(found: dict) -> str:
    """What a run cost, by its `summary`; a lower bound is said to be one."""
    told = money(found["cost"], found["currency"])
    return f"at least {told}" if found["cost"] is not None and found["silent_calls"] else told


def tokens_words(found: dict) -> str:
    """Tokens in and out, and how many calls did not report theirs."""
    if not found["calls"]:
        return "none"
    told = " / ".join(tokens(found[name]) for name in ("input_tokens", "output_tokens"))
    silent = found["silent_calls"]
    return told if not silent or silent == found["calls"] else f"{told} ({silent:,} calls did not tell)"


def tokens(count: int | None) -> str:
    """A count of tokens in few digits; `unknown` is not 0."""
    if count is None:
        return UNKNOWN
    return (
        f"{count:,}" if count < 10_000 else f"{count / 1000:,.1f} k" if count < 10_000_000 else f"{count / 1e6:,.1f} M"
    )


def size(count: float | None) -> str:
    """Bytes in kB or MB."""
    if count is None:
        return UNKNOWN
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1000:,.0f} kB"


def sent_a_case(found: dict) -> str:
    """How much was sent for each case that was asked about."""
    if not found["calls"]:
        return "nothing"
    asked = found["done"] - found["skipped"]
    return size(found["sent_bytes"] / asked if found["sent_bytes"] is not None and asked else None)


def trouble_words(trouble: dict[str, int]) -> str:
    """What went wrong and was tried again, the most frequent first."""
    names = {"timeout": "no answer in time", "unreachable": "unreachable"}
    ranked = sorted(trouble.items(), key=lambda kind: -kind[1])
    return ", ".join(f"{count} × {names.get(kind, f'status {kind}')}" for kind, count in ranked)


def plan_lines(planned: Plan) -> list[str]:
    """What a run would do, a sentence a line."""
    fit = planned.cases - sum(planned.unfit.values())
    lines = [f"{fit} of {planned.cases} cases fit the metric. It will make {planned.new_calls:,} calls"
             + (f"; {planned.known:,} more are known from earlier and cost nothing." if planned.known else ".")]  # fmt: skip
    if planned.tokens is not None and planned.new_calls:
        lines.append(
            f"By the last {planned.history:,} calls of this kind that is about {tokens(planned.tokens)} tokens, "
            f"cost {money(planned.cost, planned.currency)}"
            + ("." if planned.cost is not None else ": the judge has no price yet.")
        )
    elif planned.new_calls:
        lines.append("Tokens and cost are unknown until the first cases are judged.")
    lines += [
        f"{count} will be skipped: {reason}"
        for reason, count in sorted(planned.unfit.items(), key=lambda found: -found[1])[:5]
    ]
    return lines


def run_lines(report: dict) -> list[str]:
    """A run's `summary`, and its `errors` and `slowest_calls` if they are there, a line each; the first tells most."""
    rate = f", {report['rate']:.1f} cases a second" if report["rate"] else ""
    lines = [
        f"Run {report['run']}: {report['ok']} of {report['cases']} scored, mean score {shown_score(report['mean_score'])}"
        f" · {report['status']} ({report['done']}/{report['cases']}) · {report['metric']} · {report['judge']}"
        f" · {report['dataset']}{rate}"
    ]
    lines += [f"  {report[what]} {what}" for what in NOT_OK if report[what]]
    lines += [f"    {r['n']} {r['status']}: {r['problem']}" for r in report.get("errors", [])]
    lines.append(
        f"  {report['calls']} calls ({report['cached_calls']} replies from the store), tokens {tokens_words(report)}, "
        f"cost {cost_words(report)}, {sent_a_case(report)} sent a case"
    )
    if report["trouble"]:
        lines.append(f"  tried again: {trouble_words(report['trouble'])}")
    lines += [
        f"  slow: {call['seconds']:.1f} s, {call['aspect']} of case {call['case'] or 'not judged yet'}"
        for call in report.get("slowest_calls", [])
    ]
    lines += [f"  {report['problem']}"] if report["problem"] else []
    return lines
