def with_tax(cents, percent):
    """Adds a tax in percent, rounded to whole cents, half up."""
    return int(cents * (100 + percent) / 100)
