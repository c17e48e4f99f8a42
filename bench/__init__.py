"""Benchmarks: each measures the application beside its peers in one run and prints ratios. Never imported by it."""
