"""The asynchronous client. `_sync` is made from this folder by scripts/unasync.py."""
