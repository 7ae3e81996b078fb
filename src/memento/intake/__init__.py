"""Input: `rows` reads notes and cases from files and requests, `redaction` removes secrets from every text."""
