"""`python -m skyway_py.cli COMMAND`."""

from skyway_py.cli import main

if __name__ == "__main__":
    main(prog_name="skyway")
