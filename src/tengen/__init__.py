"""AlphaZero for board games that runs on the machine you have."""

import os

from tengen import kernel_cache

__version__ = "0.1.0"

# ONNX Runtime 1.29 and later keep a device id and a queue of telemetry events in the user's home, and send
# them. It reads this when it is first imported, here and in every process that we start.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

kernel_cache.use()
