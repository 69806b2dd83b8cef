"""Recipes that make the weights. Never imported by the package."""
