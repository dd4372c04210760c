"""Judges: who can be asked, and whether they answer."""

import json
import os

import pandas as pd
import streamlit as st

from data.store import judges
from evaluators.errors import JudgeFailed
from evaluators.judges.settings import DEFAULT_KEY_VARIABLE, EndpointSettings
from evaluators.judges.trial import try_judge
from evaluators.waiting import run_alone
from pages.parts.guard import require_reviewer
from pages.parts.plain import plain

#: What a preset fills in: base URL, an example model, the variable that holds the key.
PRESETS = {
    "OpenAI": ("https://api.openai.com/v1", "gpt-4o", DEFAULT_KEY_VARIABLE),
    "Ollama on this machine": ("http://127.0.0.1:11434/v1", "qwen2.5vl", ""),
    "vLLM on this machine": ("http://127.0.0.1:8000/v1", "Qwen/Qwen2.5-VL-7B-Instruct", ""),
    "LM Studio on this machine": ("http://127.0.0.1:1234/v1", "", ""),
    "another OpenAI-compatible endpoint": ("", "", ""),
}

require_reviewer()
st.title("Judges")
saved = st.session_state.pop("judge_saved", None)
if saved:
    st.success("Saved.")
    st.text(f"{saved} can be tested below and chosen on the Runs page.")
known = judges.judges()


def words(judge: dict) -> dict:
    row = {"Judge": judge["name"], "Kind": judge["kind"], "Model": judge["settings"].get("model", "")}
    if judge["kind"] != "endpoint":
        return {**row, "Endpoint": "replays stored replies", "Key": "none needed"}
    settings = judges.endpoint_settings(judge)
    is_set = "set" if os.environ.get(settings.key_variable) else "not set"
    return {
        **row,
        "Endpoint": settings.url,
        "Key": f"{settings.key_variable} is {is_set}" if settings.key_variable else "none needed",
        "Replies as": judge["mode"] or "not known yet",
        "Parameters": json.dumps(settings.parameters, ensure_ascii=False),
    }


if known:
    st.dataframe(pd.DataFrame([words(judge) for judge in known]).fillna(""), hide_index=True)
else:
    st.text("No judge yet. Add one below: any endpoint that speaks OpenAI's chat-completions protocol will do.")

st.subheader("Test a judge")
able = {judge["name"]: judge for judge in known if judge["kind"] == "endpoint"}
if not able:
    st.text("Only judges with an endpoint can be tested; a recorded judge replays what was stored.")
else:
    name = st.selectbox("Judge to test", list(able))
    if st.button("Send it one small picture"):
        try:
            with st.spinner("Waiting for the judge"):
                reply = run_alone(try_judge(judges.endpoint_settings(able[name])))
        except JudgeFailed as error:
            st.error(plain(f"It did not work: {error}"))
        else:
            judges.remember_mode(able[name]["id"], reply.mode)
            tokens = (
                "not reported" if reply.input_tokens is None else f"{reply.input_tokens} in, {reply.output_tokens} out"
            )
            st.success("The judge answers.")
            st.text(f"{reply.seconds:.2f} s · replies as {reply.mode} · tokens {tokens} · its reply to a red picture:")
            st.code(reply.text or reply.refusal or "(empty)", language=None, wrap_lines=True)

st.subheader("Add or change a judge")
preset = st.selectbox("Start from", list(PRESETS))
base_url, model, key_variable = PRESETS[preset]
with st.form(f"judge-{preset}"):
    left, right = st.columns(2)
    given_name = left.text_input("Name", placeholder="as it stands in charts and exports")
    model = left.text_input("Model", model)
    base_url = right.text_input("Base URL", base_url, placeholder="https://…/v1")
    key_variable = right.text_input(
        "Name of the environment variable with the key", key_variable,
        help="Only the variable's name is kept, never the key. Leave it empty if the endpoint needs none.",
    )  # fmt: skip
    one, two, three = st.columns(3)
    concurrency = one.number_input("Requests in flight", 1, 512, 8)
    image_side = two.number_input("Longest image side, pixels", 64, 4096, 1024)
    image_format = three.selectbox("Images sent as", ["jpeg", "png", "webp"])
    parameters = st.text_input(
        "Parameters of the call (JSON)", '{"temperature": 0, "seed": 7, "max_tokens": 1500}',
        help="Passed on as they are; extra_body goes here as well.",
    )  # fmt: skip
    if st.form_submit_button("Save judge", type="primary"):
        try:
            values = json.loads(parameters or "{}")
            if not isinstance(values, dict):
                raise ValueError("The parameters are not a JSON object.")
            if not given_name.strip():
                raise ValueError("A judge needs a name.")
            settings = EndpointSettings(
                model=model.strip(), base_url=base_url.strip(), key_variable=key_variable.strip(), parameters=values,
                concurrency=int(concurrency), image_side=int(image_side), image_format=image_format,
            )  # fmt: skip
            judges.save_endpoint(given_name.strip(), settings)
        except ValueError as error:
            st.error(plain(f"Not saved: {error}"))
        else:
            problem = settings.problem()
            if problem:
                st.warning(plain(f"Saved, but it cannot be asked yet: {problem}"))
            else:
                st.session_state["judge_saved"] = given_name.strip()
                st.rerun()
