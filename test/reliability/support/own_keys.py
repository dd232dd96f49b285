"""
Loaded into Schemathesis. A key that came before is the same job, whatever the body, so each right one is new. A part of a
form is bytes: no text is a `baseline` of a wrong type.
"""
import re
import uuid

import schemathesis

NAME = "Idempotency-Key"


@schemathesis.hook
def before_call(context, case, **kwargs):
    if re.fullmatch("[!-~]{1,200}", str((case.headers or {}).get(NAME, ""))):
        case.headers[NAME] = uuid.uuid4().hex


@schemathesis.hook
def filter_case(context, case):
    form = case.body if case.media_type == "multipart/form-data" and isinstance(case.body, dict) else {}
    return isinstance(form.get("baseline", []), list)
