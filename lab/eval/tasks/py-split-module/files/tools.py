"""Helpers."""


def shorten(text, limit):
    """Cuts a text to a length, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def title_case(text):
    """Makes the first letter of each word a capital."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


def clamp(value, low, high):
    """The nearest value between two others."""
    return max(low, min(high, value))
