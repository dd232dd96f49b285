"""Loaded into Schemathesis: a key that came before is the same job, whatever the body, so each right one is new."""
import re
import uuid

import schemathesis

NAME = "Idempotency-Key"


@schemathesis.hook
def before_call(context, case, **kwargs):
    if re.fullmatch("[!-~]{1,200}", str((case.headers or {}).get(NAME, ""))):
        case.headers[NAME] = uuid.uuid4().hex
