"""The form that adds or changes a judge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from data.store import judges
from evaluators.judges.local import LocalServer
from evaluators.judges.settings import DEFAULT_KEY_VARIABLE, OPENAI_URL, EndpointSettings
from pages.parts.plain import plain


@dataclass(frozen=True)
class Preset:
    """What a choice fills in, and what to know about it."""

    settings: EndpointSettings
    hint: str = ""
    name: str = ""


def _preset(url: str, model: str, key_variable: str = "", hint: str = "") -> Preset:
    return Preset(EndpointSettings(model=model, base_url=url, key_variable=key_variable), hint)


#: Addresses as their providers document them for OpenAI's client. Models are examples: take one that sees pictures.
PRESETS = {
    "OpenAI": _preset(OPENAI_URL, "gpt-4o", DEFAULT_KEY_VARIABLE),
    "Azure OpenAI": _preset(
        "https://RESOURCE.openai.azure.com/openai/v1", "DEPLOYMENT", "AZURE_OPENAI_API_KEY",
        "Put your resource's name into the base URL; the model is the name of your deployment.",
    ),
    "Gemini": _preset("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", "GEMINI_API_KEY",
                      "Gemini knows no seed: take it out of the parameters if it is turned down."),
    "DashScope (Qwen)": _preset(
        "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-vl-max", "DASHSCOPE_API_KEY",
        "Outside China the host is dashscope-intl.aliyuncs.com.",
    ),
    "Volcengine Ark (Doubao)": _preset(
        "https://ark.cn-beijing.volces.com/api/v3", "MODEL", "ARK_API_KEY", "The model is its id or your endpoint's (ep-…)."
    ),
    "OpenRouter": _preset("https://openrouter.ai/api/v1", "openai/gpt-4o", "OPENROUTER_API_KEY"),
    "vLLM on this machine": _preset("http://127.0.0.1:8000/v1", "Qwen/Qwen2.5-VL-7B-Instruct"),
    "Ollama on this machine": _preset("http://127.0.0.1:11434/v1", "qwen2.5vl"),
    "LM Studio on this machine": _preset("http://127.0.0.1:1234/v1", ""),
    "another OpenAI-compatible endpoint": _preset("", ""),
}  # fmt: skip


def draw_form(known: Sequence[Mapping], local: Sequence[LocalServer]) -> str | None:
    """The form, offering what answers on this machine first; gives the name of the judge that was saved just now."""
    choices = _found(local) | PRESETS | {
        f"change {judge['name']}": Preset(judges.endpoint_settings(judge), name=judge["name"])
        for judge in known
        if judge["kind"] == "endpoint"
    }  # fmt: skip
    for server in local:
        st.info(plain(f"{server.name} answers on this machine ({server.url}): it is the first choice below."))
    chosen = st.selectbox("Start from", list(choices))
    preset = choices[chosen]
    if preset.hint:
        st.text(preset.hint)
    with st.form(f"judge-{chosen}"):
        given = _fields(preset)
        if not st.form_submit_button("Save judge", type="primary"):
            return None
    try:
        name, settings = _settings(given)
        judges.save_endpoint(name, settings)
    except (ValueError, TypeError) as error:
        st.error(plain(f"Not saved: {error}"))
        return None
    return name


def _found(local: Sequence[LocalServer]) -> dict[str, Preset]:
    """A choice for each model that answers on this machine."""
    return {
        f"{server.name}: {model or 'name a model'}": _preset(server.url, model)
        for server in local
        for model in server.models or ("",)
    }


def _fields(preset: Preset) -> dict:
    """The fields, filled in from a preset; what was given."""
    start, given = preset.settings, {}
    parameters = dict(start.parameters)
    extra = parameters.pop("extra_body", {})
    left, right = st.columns(2)
    given["name"] = left.text_input("Name", preset.name, placeholder="as it stands in charts and exports")
    given["model"] = left.text_input("Model", start.model)
    given["base_url"] = right.text_input("Base URL", start.base_url, placeholder="https://…/v1")
    given["key_variable"] = right.text_input(
        "Name of the environment variable with the key", start.key_variable,
        help="Only the variable's name is kept, never the key. Leave it empty if the endpoint needs none.",
    )  # fmt: skip
    given["parameters"] = left.text_input("Parameters of the call (JSON)", json.dumps(parameters, ensure_ascii=False))
    given["extra_body"] = right.text_input(
        "Extra body (JSON)", json.dumps(extra, ensure_ascii=False) if extra else "",
        help='What this endpoint takes and OpenAI does not know, e.g. {"enable_thinking": false}.',
    )  # fmt: skip
    st.text("Pictures and pace")
    one, two, three, four, five = st.columns(5)
    given["image_side"] = one.number_input("Longest image side, pixels", 64, 4096, start.image_side)
    formats = ["jpeg", "png", "webp"]
    given["image_format"] = two.selectbox("Images sent as", formats, formats.index(start.image_format))
    given["concurrency"] = three.number_input("Requests in flight", 1, 512, start.concurrency)
    given["requests_per_minute"] = four.number_input(
        "Requests a minute", 1, None, start.requests_per_minute, placeholder="no limit"
    )
    given["tokens_per_minute"] = five.number_input(
        "Tokens a minute", 1, None, start.tokens_per_minute, placeholder="no limit",
        help="In and out; works only with endpoints that report their tokens.",
    )  # fmt: skip
    one, two, three, _rest = st.columns([1, 1, 1, 2])
    given["attempts"] = one.number_input("Tries a question", 1, 50, start.attempts)
    given["timeout"] = two.number_input("Seconds a call", 1.0, 3600.0, start.timeout)
    given["case_timeout"] = three.number_input(
        "Seconds a case", 1.0, 36000.0, start.case_timeout, help="Not counting the time that it waits for its turn."
    )
    st.text("Price per million tokens: 0 is free; left empty it is unknown, and so are the costs")
    one, two, three, four, _rest = st.columns(5)
    for column, field, label in (
        (one, "input_price", "Input"), (two, "output_price", "Output"), (three, "image_price", "Image tokens"),
    ):  # fmt: skip
        given[field] = column.number_input(
            label, 0.0, None, getattr(start, field), format="%.4f",
            placeholder="as input" if field == "image_price" else "unknown",
        )  # fmt: skip
    given["currency"] = four.text_input("Currency", start.currency, max_chars=8)
    return given


def _settings(given: dict) -> tuple[str, EndpointSettings]:
    """The judge's name and settings from the fields.

    :raises ValueError: if one of them is nothing that can be kept, with which.
    """
    values = dict(given)
    name = values.pop("name").strip()
    parameters, extra = (_json_object(values.pop(field), label) for field, label in (
        ("parameters", "parameters"), ("extra_body", "extra body"),
    ))  # fmt: skip
    if not name:
        raise ValueError("A judge needs a name.")
    if extra:
        parameters["extra_body"] = extra
    texts = {field: values[field].strip() for field in ("model", "base_url", "key_variable", "currency")}
    return name, EndpointSettings(**{**values, **texts, "parameters": parameters})


def _json_object(text: str, label: str) -> dict:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise ValueError(f"The {label} are not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"The {label} are not a JSON object.")
    return found
