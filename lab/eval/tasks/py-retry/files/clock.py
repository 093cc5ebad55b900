def format_seconds(seconds):
    """Formats a duration such as 90 as 1:30."""
    return f"{seconds // 60}:{seconds % 60:02}"
