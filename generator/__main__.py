"""python -m generator is the console script findings."""

from generator.cli import main

if __name__ == "__main__":
    main()
