"""
all-MiniLM-L6-v2 with its pooling and normalising as one ONNX file: `python -m memento.search.embedders.export FILE`.

A process of its own, so that whoever embeds never holds torch in memory; some ten seconds, once.

*But:* the exporter reports on stdout and warns on stderr.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path


def export(file: Path) -> None:
    """Write the file; raises whatever torch raises, and `ImportError` without `onnx` and `onnxscript`."""
    import torch

    from memento.search.embedders.torch import loaded

    class Fused(torch.nn.Module):
        """(n, pieces) ids and mask to (n, 384) unit rows."""

        def __init__(self, encoder: torch.nn.Module) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            states = self.encoder(
                input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
            ).last_hidden_state
            shares = mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * shares).sum(1) / shares.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, dim=1)

    encoder = loaded()[0].model
    assert isinstance(encoder, torch.nn.Module)
    # Two texts of eight pieces: a dimension of 1 in the sample would be taken for a constant.
    sample = torch.ones((2, 8), dtype=torch.long)
    axes = {0: torch.export.Dim("texts", max=65_536), 1: torch.export.Dim("pieces", max=512)}
    torch.onnx.export(
        Fused(encoder).eval(),
        (sample, torch.ones_like(sample)),
        str(file),
        dynamo=True,
        external_data=False,  # one file can be put in its place at once, two cannot
        input_names=["ids", "mask"],
        output_names=["rows"],
        dynamic_shapes={"ids": axes, "mask": axes},
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    export(Path(sys.argv[1]))
