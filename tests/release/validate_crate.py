"""Validate a crate of `make provenance` with roc-validator, without a network.

    .venv/crate/bin/python tests/release/validate_crate.py results/quick/crate.zip

The validator fetches the terms of RO-Crate 1.1. Here it gets those that the package rocrate brings;
they are newer, and name the types of Bioschemas by addresses with ``terms/``.
"""

import sys
from pathlib import Path

import requests
import rocrate
from rocrate_validator import models, services

PROFILE = "provenance-run-crate-0.5"  # with all that it builds on
TERMS = Path(rocrate.__file__).parent / "data/ro-crate.jsonld"
OLDER = TERMS.read_bytes().replace(b"bioschemas.org/terms/", b"bioschemas.org/")


def answer(session: requests.Session, method: str, url: str, **_: object) -> requests.Response:
    """Answer in place of the network."""
    if url != "https://w3id.org/ro/crate/1.1/context":
        raise requests.ConnectionError(f"{url} is not here")
    response = requests.Response()
    response.status_code, response._content, response.url = 200, OLDER, url
    response.headers["Content-Type"] = "application/ld+json"
    return response


def main() -> None:
    """Print every issue, and end with 1 if there is any."""
    requests.Session.request = answer  # type: ignore[method-assign, assignment]
    settings = services.ValidationSettings(
        rocrate_uri=models.URI(sys.argv[1]),
        profile_identifier=PROFILE,
        requirement_severity=models.Severity.REQUIRED,
        no_cache=True,
    )
    result = services.validate(settings)
    for issue in result.get_issues():
        print(f"{issue.check.identifier}: {issue.message} ({issue.violatingEntity})")
    print(f"{sys.argv[1]}: {'valid' if result.passed() else 'not valid'}, {PROFILE}")
    raise SystemExit(0 if result.passed() else 1)


if __name__ == "__main__":
    main()
