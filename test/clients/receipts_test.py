"""Run by test/receipts/receipts.test.ts: receipts of the service, and changes of single bytes of their files."""

import json
import os
import random
import unittest
from pathlib import Path

from undertone_client import ReceiptError, verify_receipt

CASES = json.loads(os.environ["CASES"])


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

    def test_any_changed_byte_is_refused(self) -> None:
        chance = random.Random(1)
        for case in CASES:
            answer, recording, keys = read(case)
            identity = json.loads(answer)["request_id"].encode()
            start = answer.index(identity)
            uncovered = range(start, start + len(identity))
            for _ in range(100):
                changed = bytearray(answer)
                at = chance.choice([at for at in range(len(answer)) if at not in uncovered])
                changed[at] ^= chance.randrange(1, 256)
                with self.assertRaises(ReceiptError, msg=f"byte {at} of the answer"):
                    verify_receipt(bytes(changed), recording, keys)
                other = bytearray(recording)
                at = chance.randrange(len(other))
                other[at] ^= chance.randrange(1, 256)
                with self.assertRaises(ReceiptError, msg=f"byte {at} of the recording"):
                    verify_receipt(answer, bytes(other), keys)


if __name__ == "__main__":
    unittest.main()
