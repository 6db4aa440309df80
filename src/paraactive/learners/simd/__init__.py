"""Vectorized products whose bits do not depend on how rows are grouped, written in LLVM's instructions."""
