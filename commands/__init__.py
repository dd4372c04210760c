"""The commands of the terminal, a file for each kind of work; `cli.py` is their door."""
