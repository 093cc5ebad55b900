import re

WORD = re.compile("\\w+(?:\'\\w+)?")


def words(path):
    return WORD.findall(open(path).read())
