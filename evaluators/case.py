"""What is judged: a case made of parts.

A case has four ordered lists of parts, whatever the metric: `input` (prompt and input images), `output` (the
result), `expected` and `context`. A part is a text, an image or a video. Everything here is frozen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["text", "image", "video"]
ROLES = ("input", "output", "expected", "context")


@dataclass(frozen=True)
class Part:
    """One piece of a case.

    `text` is set for a text. An image or video has a `path` to its bytes and the `sha256` of them; when it cannot
    be used, `problem` says why in a sentence and `path` is None. `source` is where it came from (a file name or a
    link), kept for people.
    """

    kind: Kind
    text: str = ""
    path: Path | None = None
    sha256: str = ""
    source: str = ""
    problem: str = ""

    @property
    def is_animation(self) -> bool:
        """Whether an image may hold more than its first frame."""
        return self.kind == "image" and self.path is not None and self.path.suffix.lower() == ".gif"

    @classmethod
    def of_text(cls, text: str) -> Part:
        """A text part."""
        return cls("text", text=text)

    @classmethod
    def of_image(cls, path: str | Path) -> Part:
        """An image part from a file on disk; a file that cannot be read gives a part with a `problem`."""
        return cls.of_file("image", path)

    @classmethod
    def of_video(cls, path: str | Path) -> Part:
        """A video part from a file on disk, as `of_image`."""
        return cls.of_file("video", path)

    @classmethod
    def of_file(cls, kind: Kind, path: str | Path) -> Part:
        """A part of that kind from a file on disk; its content is not looked at."""
        path = Path(path)
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            return cls(kind, source=path.name, problem=f"{path.name} cannot be read: {error.strerror}")
        return cls(kind, path=path, sha256=digest, source=path.name)


@dataclass(frozen=True)
class Case:
    """One thing to judge, with the id that people know it by."""

    id: str
    input: tuple[Part, ...] = ()
    output: tuple[Part, ...] = ()
    expected: tuple[Part, ...] = ()
    context: tuple[Part, ...] = ()
    generator: str = ""
    tags: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        prompt: str,
        result_image: str | Path | None = None,
        input_images: Iterable[str | Path] = (),
        *,
        id: str = "case",
        generator: str = "",
    ) -> Case:
        """A case from a prompt and image files, as Python users have them.

        >>> Case.build("a blue pair of shoes").prompt
        'a blue pair of shoes'
        """
        return cls(
            id=id,
            input=(Part.of_text(prompt), *(Part.of_image(path) for path in input_images)),
            output=(Part.of_image(result_image),) if result_image is not None else (),
            generator=generator,
        )

    @property
    def prompt(self) -> str:
        """All input texts, in order, one per line."""
        return "\n".join(part.text for part in self.input if part.kind == "text")

    @property
    def input_images(self) -> tuple[Part, ...]:
        return images(self.input)

    @property
    def result_images(self) -> tuple[Part, ...]:
        return images(self.output)


def images(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The image parts among `parts`, in order."""
    return tuple(part for part in parts if part.kind == "image")
