"""`python -m order_worker`: answers orders for tests of `board.runs.child_process`, or does otherwise, as it is told."""

import os
import sys
import time
from typing import Any

from board.runs import child_process
from board.runs.child_process import Tell


def answer(order: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """What the order says is to be done."""
    match order["do"]:
        case "die":
            os._exit(9)
        case "fail":
            raise ValueError("on purpose")
        case "sleep" | "pause":
            tell(0.5)
            time.sleep(600 if order["do"] == "sleep" else 0.6)
        case "hoard":
            return {"held": len(bytearray(1 << 50))}
        case "pay":
            return {"payload": bytes(order["bytes"])}
        case "print":
            sys.stdout.write("not meant for the parent\n")
            sys.stdout.flush()
            os.write(1, b"nor this\n")
    return {**order, "pid": os.getpid(), "environment": dict(os.environ), "path": sys.path, "board": child_process.__file__}


if __name__ == "__main__":
    child_process.serve(answer, memory_share=1)
