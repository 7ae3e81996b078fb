"""Operations on whole memories: listing, forgetting, export, import, backup."""
