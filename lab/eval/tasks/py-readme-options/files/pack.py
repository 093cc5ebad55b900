import argparse

parser = argparse.ArgumentParser()
parser.add_argument("directory")
parser.add_argument("--output", default="out.tar", help="the archive")
parser.add_argument("--level", type=int, default=6, help="compression from 1 to 9")
parser.add_argument("--exclude", action="append", help="a pattern of files to leave out; may be repeated")

if __name__ == "__main__":
    print(parser.parse_args())
