import unittest

from clock import format_seconds


class ClockTest(unittest.TestCase):
    def test_minutes(self):
        self.assertEqual(format_seconds(90), "1:30")
