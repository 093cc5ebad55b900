import argparse


def count(path):
    with open(path, "rb") as file:
        data = file.read()
    return data.count(b"\n"), len(data.split()), len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    options = parser.parse_args()
    lines, words, size = count(options.file)
    print(f"{lines} {words} {size}")


if __name__ == "__main__":
    main()
