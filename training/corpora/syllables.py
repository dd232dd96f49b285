"""Counts the syllables of English text."""


def count_syllables(text: str) -> int:
    """Vowel groups, without a silent final e: right for about nine words in ten."""
    words = "".join(c if c.isalpha() else " " for c in text.lower().replace("'", "")).split()
    return sum(max(1, syllables_of(word)) for word in words)


def syllables_of(word: str) -> int:
    vowels = [letter in "aeiouy" for letter in word]
    count = sum(now and not before for now, before in zip(vowels, [False, *vowels]))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) or word.endswith("ed")
    if silent and not word.endswith(("ted", "ded")):
        count -= 1
    if word.endswith(("ia", "io", "eo", "iet", "ion")) and not word.endswith(("tion", "sion")):
        count += 1
    return count
