"""Videos become frames: evenly spread, with their times; what is no video is said not to be one."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from data.images import NotAPicture, keep, kept_part, smaller_path
from evaluators.errors import CaseUnfit
from evaluators.judges.video import frames, prepared_frames
from tests.conftest import png
from tests.evaluators.videos import FORMS, gif, greys, level_of, sound, video


def made(form: str, count: int = 12) -> bytes:
    return gif(greys(count)) if form == "gif" else video(greys(count), form)


@pytest.mark.parametrize("form", [*FORMS, "gif"])
def test_frames_of_every_form_come_evenly_and_in_order(form, tmp_path):
    path = tmp_path / f"film.{form}"
    path.write_bytes(made(form))
    found = frames(path, 4)
    # 12 frames at 10 a second: the middles of 4 stretches of 3 are frames 1, 4, 7 and 10.
    assert [seconds for seconds, _image in found] == pytest.approx([0.1, 0.4, 0.7, 1.0], abs=0.011)
    levels = [image.convert("L").getpixel((32, 32)) for _seconds, image in found]
    assert levels == pytest.approx([greys(12)[i][0] for i in (1, 4, 7, 10)], abs=8)
    assert {(image.mode, image.size) for _seconds, image in found} == {("RGB", (64, 64))}


@pytest.mark.parametrize(("form", "extension"), [("mp4", "mp4"), ("h264.mp4", "mp4"), ("webm", "webm"), ("mov", "mov")])
def test_a_video_is_kept_byte_for_byte_and_shown_by_a_frame(form, extension, home):
    content = made(form)
    picture = keep(content, "whatever.dat")
    assert (picture.extension, picture.width, picture.height) == (extension, 64, 64)
    part = kept_part(picture, "film")
    assert (part.kind, part.path.read_bytes()) == ("video", content)
    with Image.open(smaller_path(picture.sha256, picture.extension, "thumb")) as thumb:
        assert (thumb.format, thumb.size) == ("JPEG", (64, 64))


def test_a_gif_is_kept_as_a_picture():
    picture = keep(gif(greys(3)), "a.gif")
    assert (picture.extension, kept_part(picture, "a.gif").kind, kept_part(picture, "a.gif").is_animation) == (
        "gif", "image", True,
    )  # fmt: skip


@pytest.mark.parametrize(("count", "wanted"), [(1, 8), (3, 8), (8, 8), (9, 8)])
def test_no_frame_is_given_twice(count, wanted, tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(video(greys(count)))
    times = [seconds for seconds, _image in frames(path, wanted)]
    assert len(times) == min(count, wanted) == len(set(times))


def test_frames_are_shrunk_and_encoded_as_the_judge_wants_them(tmp_path):
    path = tmp_path / "film.mp4"
    path.write_bytes(video(greys(4), size=128))
    for image_format in ("jpeg", "png", "webp"):
        ((_seconds, content),) = prepared_frames(path, 1, 32, image_format)
        with Image.open(io.BytesIO(content)) as image:
            assert (image.format, image.size) == (image_format.upper(), (32, 32))
        assert level_of(content) == pytest.approx(greys(4)[2][0], abs=8)


BROKEN = {
    "text.mp4": b"just text",
    "empty.mp4": b"",
    "sound.mp4": sound(),
    "half.mp4": video(greys(12))[:300],
    "half.webm": video(greys(12), "webm")[:120],
    "head.mp4": b"\0\0\0\x18ftypisom" + b"\0" * 100,
    "head.webm": b"\x1a\x45\xdf\xa3" + b"\0" * 100,
    "list.mp4": b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.ts\n#EXT-X-ENDLIST\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_video_is_said_not_to_be_one(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(BROKEN[name])
    with pytest.raises(CaseUnfit, match=rf"{name} (cannot be read as a video|holds no)"):
        frames(path, 8)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_video_is_not_kept(name, home):
    with pytest.raises(
        NotAPicture, match=f"{name} is (a broken video|an empty file|not a picture or video of a known format)"
    ):
        keep(BROKEN[name], name)
    assert not list((home / "images").rglob("*.*"))


def test_a_video_that_is_gone_is_said_to_be(tmp_path):
    with pytest.raises(CaseUnfit, match=r"gone\.mp4 cannot be read"):
        frames(tmp_path / "gone.mp4", 8)


def test_a_playlist_never_makes_the_judge_read_another_file(tmp_path):
    (tmp_path / "secret.mp4").write_bytes(video(greys(4)))
    for name, content in {
        "a.mp4": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.mp4\n#EXT-X-ENDLIST\n",
        "b.mp4": "ffconcat version 1.0\nfile secret.mp4\n",
    }.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(CaseUnfit):
            frames(tmp_path / name, 8)


def test_a_video_longer_than_ten_minutes_is_turned_away(tmp_path):
    path = tmp_path / "long.gif"
    path.write_bytes(gif(greys(4), milliseconds=300_000))
    with pytest.raises(CaseUnfit, match="is longer than 600 seconds"):
        frames(path, 2)


def test_a_picture_is_a_video_of_one_frame(tmp_path):
    (tmp_path / "a.png").write_bytes(png("red"))
    assert [seconds for seconds, _image in frames(tmp_path / "a.png", 8)] == [0.0]
