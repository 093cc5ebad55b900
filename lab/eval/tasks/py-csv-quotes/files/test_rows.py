import unittest

from rows import read_rows


class RowsTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(read_rows("a,b\n\nc,d\n"), [["a", "b"], ["c", "d"]])


if __name__ == "__main__":
    unittest.main()
