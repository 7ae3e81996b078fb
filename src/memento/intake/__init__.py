"""What comes in: `rows` reads notes and cases from files and requests, `redaction` takes the secrets out of every text."""
