"""How strong memories are: importance, depth, energy, usefulness, and the links between them."""
