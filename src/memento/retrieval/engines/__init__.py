"""Other ways to rank that designs published."""
