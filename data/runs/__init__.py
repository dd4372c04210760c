"""Runs: what one would do, the worker that judges it, what it may take, and its log."""

from data.runs.budget import Budget
from data.runs.plan import Plan, plan
from data.runs.worker import RunRefused, judge_run, start_worker

__all__ = ["Budget", "Plan", "RunRefused", "judge_run", "plan", "start_worker"]
