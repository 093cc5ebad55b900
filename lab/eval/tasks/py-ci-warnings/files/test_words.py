import gc
import os
import tempfile
import unittest

from words import words


class WordsTest(unittest.TestCase):
    def test_finds_words(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "text")
            with open(path, "w") as file:
                file.write("it's one word")
            unraisable = []
            import sys

            before, sys.unraisablehook = sys.unraisablehook, unraisable.append
            try:
                found = words(path)
                gc.collect()
            finally:
                sys.unraisablehook = before
            self.assertEqual(found, ["it's", "one", "word"])
            self.assertEqual(unraisable, [], "a file was not closed")
