"""The desk: one component that shows a case, takes a decision, and keeps it until the server has it."""

from pages.parts.desk.desk import draw_desk

__all__ = ["draw_desk"]
