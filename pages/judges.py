"""Judges: who can be asked, whether they answer, how fast they may be asked and what they cost."""

import json
import os

import pandas as pd
import streamlit as st

from data.run_words import money, size
from data.store import judges
from evaluators.errors import JudgeFailed
from evaluators.judges.local import local_servers
from evaluators.judges.trial import try_judge
from evaluators.waiting import run_alone
from pages.parts.guard import require_reviewer
from pages.parts.judge_form import draw_form
from pages.parts.plain import plain

#: What it means that an endpoint can reply in a form.
MODE_WORDS = {
    "json_schema": "structured output works (json_schema)",
    "json_object": "JSON works, schemas do not (json_object)",
    "text": "plain text only; the reader copes",
    "": "not known yet",
}

require_reviewer()
st.title("Judges")
saved = st.session_state.pop("judge_saved", None)
known = judges.judges()
if saved:
    problem = judges.endpoint_settings(judges.judge_named(saved)).problem()
    if problem:
        st.warning(plain(f"Saved, but it cannot be asked yet: {problem}"))
    else:
        st.success("Saved.")
        st.text(f"{saved} can be tested below and chosen on the Runs page.")


def words(judge: dict) -> dict:
    """A judge's row in the table."""
    row = {"Judge": judge["name"], "Kind": judge["kind"], "Model": judge["settings"].get("model", "")}
    if judge["kind"] != "endpoint":
        return {**row, "Endpoint": "replays stored replies", "Key": "none needed"}
    settings = judges.endpoint_settings(judge)
    is_set = "set" if os.environ.get(settings.key_variable) else "not set"
    limits = [f"{settings.concurrency} in flight"]
    limits += [f"{settings.requests_per_minute} requests/min"] if settings.requests_per_minute else []
    limits += [f"{settings.tokens_per_minute} tokens/min"] if settings.tokens_per_minute else []
    prices = [money(price, settings.currency) for price in (settings.input_price, settings.output_price)]
    return {
        **row,
        "Endpoint": settings.url,
        "Key": f"{settings.key_variable} is {is_set}" if settings.key_variable else "none needed",
        "Replies": MODE_WORDS[judge["mode"]],
        "Limits": ", ".join(limits),
        "Price in / out, per million tokens": " / ".join(prices),
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
    names = list(able)
    name = st.selectbox("Judge to test", names, names.index(saved) if saved in able else 0)
    if st.button("Send it one small picture"):
        settings = judges.endpoint_settings(able[name])
        try:
            with st.spinner("Waiting for the judge"):
                reply = run_alone(try_judge(settings))
        except JudgeFailed as error:
            st.error(plain(f"It did not work: {error}"))
        else:
            judges.remember_mode(able[name]["id"], reply.mode)
            tokens = (
                "not reported" if reply.input_tokens is None else f"{reply.input_tokens} in, {reply.output_tokens} out"
            )
            cost = settings.cost(reply.input_tokens, reply.output_tokens, reply.image_tokens)
            st.success("The judge answers.")
            st.text(f"It took {reply.seconds:.2f} s · {MODE_WORDS[reply.mode]} · {size(reply.sent_bytes)} sent · "
                    f"tokens {tokens} · cost {money(cost, settings.currency)} · its reply to a red picture:")  # fmt: skip
            st.code(reply.text or reply.refusal or "(empty)", language=None, wrap_lines=True)

st.subheader("Add or change a judge")
found = st.cache_data(local_servers, ttl=20, show_spinner=False)()
changed = draw_form(known, found)
if changed:
    st.session_state["judge_saved"] = changed
    st.rerun()
