"""What everything else stands on: errors, checks of names and numbers, compiled loops, random numbers, states."""
