"""Pictures that are links: fetched once, in the background, by a process of their own."""

from data.links.fetching import MAX_BYTES
from data.links.network import ALLOW_PRIVATE
from data.links.worker import FetchRefused, fetch_links, start_fetching

__all__ = ["ALLOW_PRIVATE", "MAX_BYTES", "FetchRefused", "fetch_links", "start_fetching"]
