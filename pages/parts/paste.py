"""A box to paste pictures into; Streamlit's uploader takes files only."""

from __future__ import annotations

import base64
import binascii

import streamlit as st

MAX_PASTED = 15_000_000

_component = st.components.v2.component(
    "second_look_paste",
    html='<div class="box" tabindex="0" role="button"><span></span><div class="thumbs"></div>'
    '<button type="button" hidden>Clear</button></div>\n',
    css="""
.box { border: 1px dashed var(--st-border-color); border-radius: 8px; padding: 10px 12px; color: var(--st-text-color);
  font: 14px var(--st-font); display: flex; gap: 10px; align-items: center; flex-wrap: wrap; }
.box:focus { outline: 2px solid var(--st-primary-color); }
.thumbs { display: flex; gap: 6px; }
.thumbs img { height: 48px; border-radius: 4px; }
button { font: inherit; border: 1px solid var(--st-border-color); border-radius: 8px; background: none; color: inherit; }
""",
    js="""
const LIMIT = 15000000
export default function ({ data, parentElement, setStateValue }) {
  const box = parentElement.querySelector(".box")
  const say = (text) => (box.querySelector("span").textContent = text)
  const clear = box.querySelector("button")
  const pasted = (box.pasted ??= [])
  const draw = () => {
    const thumbs = pasted.map((one) => Object.assign(new Image(), { src: one.url, alt: one.name }))
    box.querySelector(".thumbs").replaceChildren(...thumbs)
    clear.hidden = !pasted.length
  }
  say(data.label)
  box.setAttribute("aria-label", data.label)
  box.onpaste = async (event) => {
    event.preventDefault()
    const files = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"))
    if (!files.length) return say("There is no picture on the clipboard. " + data.label)
    for (const file of files) {
      if (file.size > LIMIT) { say(`That picture is too large to paste (${file.size} bytes); give it as a file.`); continue }
      const url = await new Promise((done) => {
        const reader = new FileReader()
        reader.onload = () => done(reader.result)
        reader.readAsDataURL(file)
      })
      if (!data.many) pasted.length = 0
      pasted.push({ name: `pasted-${pasted.length + 1}.png`, url })
    }
    draw()
    setStateValue("pasted", pasted.slice())
  }
  clear.onclick = () => { pasted.length = 0; draw(); setStateValue("pasted", []) }
  draw()
}
""",
)


def paste_pictures(label: str, key: str, many: bool = False) -> list[tuple[str, bytes]]:
    """A box that takes pictures from the clipboard; gives name and bytes of each."""
    result = _component(key=key, data={"label": label, "many": many}, on_pasted_change=lambda: None)
    found = []
    for pasted in result.pasted or []:
        try:
            content = base64.b64decode(str(pasted["url"]).partition(",")[2], validate=True)
        except (binascii.Error, KeyError, TypeError):
            st.error("What was pasted could not be read; give the picture as a file.")
            continue
        if len(content) <= MAX_PASTED:
            found.append((str(pasted["name"]), content))
    return found
