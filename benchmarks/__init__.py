"""Benchmarks, run by hand (`make bench`); each judges by ratios within one run."""
