"""Trains, calibrates and evaluates the models of Undertone. README.md shows the way from the corpora to the model cards."""
