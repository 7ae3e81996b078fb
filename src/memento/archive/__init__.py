"""What becomes of whole memories: listing, forgetting, export, import, backup."""
