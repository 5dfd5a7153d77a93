"""Runs the programs of the guides in docs/ that use an SDK, with the service of the tests.

    guides.py LANGUAGE SUFFIX COMMAND…

COMMAND gets the file of each program, whose name ends with SUFFIX. Programs of other libraries, which the guides compare, are left out.
"""

import os
import pathlib
import re
import subprocess
import sys

# What each language writes to make a client, and how it passes a token.
CLIENTS = {
    "python": ('Timerbus("http://127.0.0.1:8080")', 'Timerbus("{url}", token="{token}")'),
    "ts": ('new Timerbus("http://127.0.0.1:8080")', 'new Timerbus("{url}", {{ token: "{token}" }})'),
    "java": ('Timerbus.builder("http://127.0.0.1:8080")', 'Timerbus.builder("{url}").token("{token}")'),
}


def main(language: str, suffix: str, *command: str) -> None:
    documented, used = CLIENTS[language]
    used = used.format(url=os.environ["TIMERBUS_CONFORMANCE_SERVICE"], token="conformance")
    docs = pathlib.Path(__file__).parents[2] / "docs"
    folder = pathlib.Path("guides")
    ran = 0
    for page in [*sorted((docs / "coming-from").glob("*.md")), docs / "idempotency.md"]:
        for block in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            if documented not in block:
                continue
            ran += 1
            program = folder / f"{page.stem}-{ran}{suffix}"
            program.parent.mkdir(exist_ok=True)
            program.write_text(block.replace(documented, used))
            if subprocess.run([*command, program], check=False).returncode:
                sys.exit(f"docs/{page.relative_to(docs)}: this program failed:\n{block}")
    if not ran:
        sys.exit(f"no program in {language} was found in the guides")


main(*sys.argv[1:])
