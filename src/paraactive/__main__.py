"""The command line, as `python -m paraactive`."""

from paraactive.cli import main

if __name__ == "__main__":
    main()
