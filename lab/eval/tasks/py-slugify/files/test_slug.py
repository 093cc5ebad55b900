import unittest

from slug import slugify


class SlugTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(slugify("Hello, World!"), "hello-world")
