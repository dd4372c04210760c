"""What several pages are made of. A folder below `pages` is never taken for a page."""
