"""Judges on this very machine: Ollama and LM Studio answer on ports that are known beforehand."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

import openai

_PATIENCE_SECONDS = 0.5


@dataclass(frozen=True)
class LocalServer:
    """A server that answers on this machine: its name, base URL, and the models it offers."""

    name: str
    url: str
    models: tuple[str, ...]


def local_servers() -> list[LocalServer]:
    """The local servers that answer within half a second. OLLAMA_HOST is honoured as Ollama itself honours it."""
    places = {"Ollama": _ollama_url(), "LM Studio": "http://127.0.0.1:1234/v1"}
    with ThreadPoolExecutor(len(places)) as threads:
        return [server for server in threads.map(_answering, places, places.values()) if server]


def _answering(name: str, url: str) -> LocalServer | None:
    try:
        with openai.OpenAI(base_url=url, api_key="none", timeout=_PATIENCE_SECONDS, max_retries=0) as client:
            return LocalServer(name, url, tuple(model.id for model in client.models.list().data))
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):  # nobody there, or somebody else
        return None


def _ollama_url() -> str:
    host = os.environ.get("OLLAMA_HOST", "").strip()
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        port = parts.port or 11434
    except ValueError:
        return "http://127.0.0.1:11434/v1"
    name = parts.hostname if parts.hostname not in (None, "0.0.0.0", "::") else "127.0.0.1"
    return f"http://{name}:{port}/v1"
