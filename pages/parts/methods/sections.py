"""All explanations in the order of the page, and which of them a reason or a warning belongs to."""

from __future__ import annotations

from evaluators.agreement import REASON_WORDS, WARNING_WORDS
from pages.parts.methods import evidence, figures, further
from pages.parts.methods.explained import Explained

SECTIONS: tuple[Explained, ...] = (*figures.EXPLAINED, *evidence.EXPLAINED, *further.EXPLAINED)


def section_of(code: str) -> str:
    """The anchor of the section that explains a key of REASON_WORDS or WARNING_WORDS; empty for another one."""
    return next((section.anchor for section in SECTIONS if code in section.codes), "")


def code_lines(section: Explained) -> list[str]:
    """What the screens say in these cases, and what it means, a line of markdown each."""
    return [f"- {' / '.join(f'“{words}”' for words in _words(code))} {said}" for code, said in section.codes.items()]


def _words(code: str) -> list[str]:
    """The words of a code as a reason and as a warning, where it is both."""
    return [words[code] for words in (REASON_WORDS, WARNING_WORDS) if code in words]
