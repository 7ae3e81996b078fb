"""
Take in texts from elsewhere: `rows` reads notes from files and requests, `redaction` removes the secrets from every text.
"""
