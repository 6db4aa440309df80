"""One run, in memory and on disk: train, resume and replay, its result, its model, its file."""
