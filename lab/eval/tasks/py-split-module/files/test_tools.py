import unittest

from tools import clamp, shorten, title_case


class ToolsTest(unittest.TestCase):
    def test_all(self):
        self.assertEqual(shorten("abcdef", 4), "abc…")
        self.assertEqual(title_case("ab cd"), "Ab Cd")
        self.assertEqual(clamp(5, 1, 3), 3)
