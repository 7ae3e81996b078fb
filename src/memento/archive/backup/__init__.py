"""
Backups: a folder that holds the memory as it was at one instant, and the way back.

*Flow:* `taking` → FOLDER/TIME/{manifest.json, store/, vectors.sqlite, memento.toml} → `manifest` (verified) → `putting`.

*Because:* tokens are not in a backup. It may lie where fewer eyes watch, and one that is put back must not let revoked tokens in
again. Nor are the proxy's blocks, which are made again: an erased text would live on in them.
"""
