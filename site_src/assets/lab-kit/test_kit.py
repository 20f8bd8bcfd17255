"""Checks of the kit: python -m unittest."""

import json
import unittest
from pathlib import Path

import lab

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))


class Kit(unittest.TestCase):
    def test_reports_are_those_of_the_vectors_byte_for_byte(self):
        self.assertGreater(len(VECTORS), 5)
        for each in VECTORS:
            self.assertEqual(lab.text(lab.report(each["settings"])), each["report"], each["settings"])

    def test_the_ends_are_exact(self):
        for length in range(17):
            self.assertEqual(lab.tokens(0, length), 1)
            self.assertEqual(lab.tokens(1, length), length + 1)

    def test_the_generator_gives_the_words_of_its_authors(self):
        generator = lab.Generator([1, 2, 3, 4])
        words = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849]
        self.assertEqual([generator.word() for _ in words], words)

    def test_what_is_no_setting_is_refused(self):
        for given in ({"acceptance": 2}, {"draft_length": 0.5}, {"mode": "positions"}, {"other": 1}):
            with self.assertRaises(lab.Unusable):
                lab.report(given)


if __name__ == "__main__":
    unittest.main()
