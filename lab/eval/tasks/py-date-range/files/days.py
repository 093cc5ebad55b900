from datetime import date, timedelta


def days_between(first: date, last: date) -> list[date]:
    count = (last - first).days
    return [first + timedelta(days=offset) for offset in range(count)]
