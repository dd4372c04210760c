"""Whole journeys in a real browser against a real server."""
