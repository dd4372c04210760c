"""Texts from people and models in places where Streamlit reads markdown (labels, alerts)."""


def plain(text: str) -> str:
    """The text with every sign that markdown could take for its own escaped.

    Markdown would fetch a picture named in it, and show formulas and colours.
    """
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!|~:$<>" else sign for sign in text)
