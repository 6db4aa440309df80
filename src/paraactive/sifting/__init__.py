"""A replica: select with the model (`select`), apply the log, ask for labels, guard against wrong ones."""
