"""Products whose bits do not depend on how rows are grouped, written in the terms of LLVM."""
