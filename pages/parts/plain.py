"""Texts from people and models in places where Streamlit reads markdown (labels, alerts)."""


def plain(text: str) -> str:
    """The text with every sign that markdown could take for its own escaped.

    Markdown would fetch a picture named in it, show formulas and colours, and make links of addresses; an invisible word
    joiner keeps those apart.
    """
    unlinked = text.replace("://", ":\u2060//").replace("www.", "www\u2060.").replace("@", "@\u2060")
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!|~:$<>&" else sign for sign in unlinked)
