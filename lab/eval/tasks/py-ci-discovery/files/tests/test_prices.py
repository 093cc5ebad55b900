import unittest

from prices import with_tax


class PricesTest(unittest.TestCase):
    def test_rounds_half_up(self):
        self.assertEqual(with_tax(250, 19), 298)
        self.assertEqual(with_tax(100, 19), 119)
        self.assertEqual(with_tax(50, 1), 51)
