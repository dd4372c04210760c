"""The sample workspace: drawn pictures, a recorded judge and two sample reviewers."""
