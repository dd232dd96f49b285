"""All known corpora by name. Training uses those that recipe.py lists."""

from training.corpora.aesdd import Aesdd
from training.corpora.ami import Ami
from training.corpora.ased import Ased
from training.corpora.baved import Baved
from training.corpora.casia import Casia
from training.corpora.corpus import Corpus
from training.corpora.crema_d import CremaD
from training.corpora.emogator import EmoGator
from training.corpora.emotion_tts_korean import EmotionTtsKorean
from training.corpora.emovo import Emovo
from training.corpora.esc10 import Esc10
from training.corpora.librispeech import LibriSpeech
from training.corpora.mfa import Mfa
from training.corpora.nemo import Nemo
from training.corpora.ravdess import Ravdess
from training.corpora.rir import Rir
from training.corpora.savee import Savee
from training.corpora.speechocean762 import Speechocean762
from training.corpora.tava import Tava
from training.corpora.tess import Tess
from training.corpora.turev import TurEv

CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Ravdess(), Tess(), Savee(), Emovo(), Nemo(), Ased(), EmotionTtsKorean(), Baved(), Tava(), EmoGator(), CremaD(),
        Casia(), Aesdd(), TurEv(), Speechocean762(), LibriSpeech(), Ami(), Mfa(), Esc10(), Rir(),
    )
}  # fmt: skip
