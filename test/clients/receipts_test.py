"""Run by test/receipts/receipts.test.ts: receipts of the service, changes of single bytes and forged fields."""

import json
import os
import random
import re
import unittest
from pathlib import Path

from undertone_client import ReceiptError, verify_receipt

CASES = json.loads(os.environ["CASES"])
REQUEST_ID = rb'"request_id":("[^"]*")'


def read(case: dict[str, str]) -> tuple[bytes, bytes, dict[str, object]]:
    keys = json.loads(Path(case["keys"]).read_text())
    return Path(case["answer"]).read_bytes(), Path(case["recording"]).read_bytes(), keys


class ReceiptsTest(unittest.TestCase):
    def test_verified(self) -> None:
        for case in CASES:
            answer, recording, keys = read(case)
            receipt = verify_receipt(answer, recording, keys)
            self.assertEqual(receipt["version"], 1)
            self.assertEqual(verify_receipt(json.loads(answer), recording, keys), receipt)
            with self.assertRaisesRegex(ReceiptError, "baseline"):
                verify_receipt(answer, recording, keys, baselines=[b"x"])
            with self.assertRaisesRegex(ReceiptError, "No key"):
                verify_receipt(answer, recording, {"keys": []})

    def test_no_changed_added_or_missing_byte_passes(self) -> None:
        chance = random.Random(1)
        for case in CASES:
            answer, recording, keys = read(case)
            places = covered(answer)
            for _ in range(150):
                at, byte = chance.choice(places), chance.randrange(256)
                change = chance.choice(["replace", "insert", "delete"])
                rest = answer[at + (change != "insert") :]
                changed = answer[:at] + (b"" if change == "delete" else bytes([byte])) + rest
                # Spaces are free, and `\\/` is `/`.
                escape = byte == ord("\\") and rest.startswith(b"/")
                if changed == answer or change != "delete" and (bytes([byte]).isspace() or escape):
                    continue
                with self.assertRaises(ReceiptError, msg=f"{change} {byte} at {at}"):
                    verify_receipt(changed, recording, keys)
            for _ in range(50):
                other = bytearray(recording)
                at = chance.randrange(len(other))
                other[at] ^= chance.randrange(1, 256)
                with self.assertRaises(ReceiptError, msg=f"byte {at} of the recording"):
                    verify_receipt(answer, bytes(other), keys)

    def test_no_field_more_passes(self) -> None:
        chance = random.Random(1)
        for case in CASES:
            answer, recording, keys = read(case)
            starts = list(re.finditer(rb'\{("\w+"):', answer))
            for _ in range(150):
                start = chance.choice(starts)
                name = chance.choice([start[1], b'"request_id"', b'"result"', b'"receipt"', b'"note"'])
                value = chance.choice([b"0.99", b'"id-2"', b"{}", b'{"valence":0.99}', b"null", b"NaN"])
                at = start.start() + 1
                with self.assertRaises(ReceiptError, msg=f"{name!r}: {value!r} at {at}"):
                    verify_receipt(answer[:at] + name + b":" + value + b"," + answer[at:], recording, keys)
                if start[1] != name:
                    with self.assertRaises(ReceiptError, msg=f"{name!r}: {value!r} at {at}, parsed"):
                        verify_receipt(
                            json.loads(answer[:at] + b'"more":' + value + b"," + answer[at:]), recording, keys
                        )

    def test_request_ids_have_their_form(self) -> None:
        for case in CASES:
            answer, recording, keys = read(case)
            for identity in re.finditer(REQUEST_ID, answer):
                for wrong in [b'"valence 0.99"', b'""', b"0.99", b'{"valence":0.99}', b"null"]:
                    changed = answer[: identity.start(1)] + wrong + answer[identity.end(1) :]
                    with self.assertRaisesRegex(ReceiptError, "request_id", msg=str(wrong)):
                        verify_receipt(changed, recording, keys)

    def test_other_spellings_and_endless_nesting(self) -> None:
        answer, recording, keys = read(CASES[0])
        for old, new in [
            (rb'("valence":0\.\d+)', rb"\g<1>0"),
            (rb'("valence":0\.\d+)', rb"\g<1>00000000000000000001"),
            (rb'("clipped_ratio":)0', rb"\g<1>-0"),
            (rb'("signals":\{)', rb'\1"deep":' + b"[" * 100_000 + b"]" * 100_000 + b","),
            (rb'"purpose":null', rb'"purpose":' + b"[" * 900 + b"]" * 900),
            (rb'"purpose":null', rb'"purpose":"\\ud800"'),
            (rb'"purpose":null', rb'"purpose":1e400'),
        ]:
            changed = re.sub(old, new, answer)
            self.assertNotEqual(changed, answer)
            with self.assertRaises(ReceiptError, msg=str(new[:60])):
                verify_receipt(changed, recording, keys)
        spaced = json.dumps(json.loads(answer), indent=2)
        self.assertEqual(verify_receipt(spaced, recording, keys)["version"], 1)


def covered(answer: bytes) -> list[int]:
    """Places of an answer outside of the values of ``request_id``."""
    uncovered = {at for found in re.finditer(REQUEST_ID, answer) for at in range(found.start(1) + 1, found.end(1))}
    return [at for at in range(len(answer)) if at not in uncovered]


if __name__ == "__main__":
    unittest.main()
