"""Code that all other packages use: parameter checks, compiled loops, random numbers, states, files."""
