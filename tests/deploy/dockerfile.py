"""Reads a Dockerfile into stages of instructions, as far as ours uses the language; anything else is an error."""
import json
import re
import shlex
from dataclasses import dataclass, field


@dataclass
class Instruction:
    word: str
    text: str
    line: int

    def exec_form(self):
        """The list of a JSON form, or None for the shell form."""
        text = self.text
        if self.word == "HEALTHCHECK":
            text = re.sub(r"^(--\S+\s+)*CMD\s+", "", text)
        return json.loads(text) if text.startswith("[") else None


@dataclass
class Copy:
    sources: list
    target: str
    stage: str = ""


@dataclass
class Stage:
    image: str
    name: str
    instructions: list = field(default_factory=list)

    def all(self, word):
        return [i for i in self.instructions if i.word == word]

    def one(self, word):
        found = self.all(word)
        if len(found) != 1:
            raise ValueError(f"{len(found)} {word} in the stage from {self.image}, there must be one")
        return found[0]


KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def copy_of(instruction):
    words = shlex.split(instruction.text)
    stage = ""
    while words and words[0].startswith("--"):
        option = words.pop(0)
        if not option.startswith("--from="):
            raise ValueError(f"line {instruction.line}: COPY {option} is not understood here")
        stage = option[len("--from="):]
    if len(words) < 2 or (len(words) > 2 and not words[-1].endswith("/")):
        raise ValueError(f"line {instruction.line}: COPY needs sources and a target, which is a folder/ for several")
    return Copy(words[:-1], words[-1], stage)


def read(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    stages, number = [], 0
    while number < len(lines):
        first, text = number + 1, lines[number]
        number += 1
        if not text.strip() or text.startswith("#"):
            continue
        while text.endswith("\\"):
            text = text[:-1] + lines[number]
            number += 1
        word, _, rest = text.strip().partition(" ")
        if word not in KNOWN:
            raise ValueError(f"line {first}: no instruction {word}")
        if word == "FROM":
            m = re.fullmatch(r"(\S+)(?: AS (\S+))?", rest.strip())
            if not m:
                raise ValueError(f"line {first}: FROM {rest}")
            stages.append(Stage(m.group(1), m.group(2) or ""))
        elif not stages:
            raise ValueError(f"line {first}: {word} before FROM")
        else:
            stages[-1].instructions.append(Instruction(word, rest.strip(), first))
    for stage in stages:
        for word in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
            for i in stage.all(word):
                i.exec_form()
        for i in stage.all("COPY"):
            copy_of(i)
    return stages
