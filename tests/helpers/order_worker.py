"""`python -m order_worker`: answers orders for tests of `board.indexing.order_pool`, ends, says nonsense or takes its time as it is told."""

import json
import os
import sys
import time

for line in sys.stdin:
    order = json.loads(line)
    if order["do"] == "die":
        os._exit(9)
    if order["do"] in ("sleep", "pause"):
        time.sleep(600 if order["do"] == "sleep" else 0.6)
    sys.stdout.write("no JSON\n" if order["do"] == "mumble" else json.dumps({**order, "pid": os.getpid()}) + "\n")
    sys.stdout.flush()
