"""What a user can switch off and a reader can skip: each folder is a plug-in with everything of its own."""
