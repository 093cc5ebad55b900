import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_total(self):
        cart = Cart([("tea", 3)])
        cart.add("cup", 4)
        self.assertEqual(cart.total(), 7)
