"""Description of a model for its manifest and its card. Each model has one ModelSpec, beside the code that trains it."""

from dataclasses import dataclass

PERMISSIVE = "Apache-2.0; trained on recordings whose licences allow commercial use, with notices that are due: see the card"
NON_COMMERCIAL = "Weights for research and non-commercial use: see the licences of the training data"


@dataclass(frozen=True)
class ModelSpec:
    name: str  # folder below models/, and the kind that the service knows
    description: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    corpora: tuple[str, ...]  # that it is trained on
    limits: tuple[str, ...]
    use: str
    origin: str
    intended: tuple[str, ...]
    unintended: tuple[str, ...]
    failures: tuple[str, ...]
    licence: str = NON_COMMERCIAL
    labels: tuple[str, ...] | None = None
    unavailable: str | None = None  # why the service reports no scores of it

    @property
    def reads_features(self) -> bool:
        """A head reads the trunk's embeddings instead."""
        return "features" in self.inputs
