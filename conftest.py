"""Where pytest looks for tests: a study's code and tests, not the mechanisms that it audits."""

collect_ignore_glob = ["studies/*/config/*", "studies/benchmark/[!t]*.py"]
