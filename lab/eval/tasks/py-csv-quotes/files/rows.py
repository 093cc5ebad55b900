def read_rows(text):
    """Returns the rows of a CSV text as lists of strings. Empty lines are ignored."""
    rows = []
    for line in text.splitlines():
        if line.strip():
            rows.append(line.split(","))
    return rows
