# Generated from src/runyard/_async/__init__.py by scripts/generate: do not edit.
"""The asynchronous client. `_sync` is generated from this folder by scripts/generate."""
