def read_users(text):
    users = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(":")]
        if len(parts) != 2:
            raise ValueError(f"line {number}: expected name:mail")
        users.append({"name": parts[0], "mail": parts[1]})
    return users


def read_groups(text):
    groups = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(":")]
        if len(parts) != 3:
            raise ValueError(f"line {number}: expected name:owner:size")
        groups.append({"name": parts[0], "owner": parts[1], "size": parts[2]})
    return groups
