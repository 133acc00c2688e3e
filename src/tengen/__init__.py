"""AlphaZero for board games that runs on the machine you have."""

from tengen import kernel_cache

__version__ = "0.1.0"

kernel_cache.use()
