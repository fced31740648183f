"""A worker in Python without any package: the index of the largest answer, with noise added."""

import json
import random
import sys


def noisy_max(answers, rng):
    noisy = [answer + rng.expovariate(0.5) - rng.expovariate(0.5) for answer in answers]
    return max(range(len(noisy)), key=noisy.__getitem__)


for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    try:
        outputs = [noisy_max(request["input"], rng) for _ in range(request["size"])]
    except Exception as error:
        outputs = [{"error": f"{type(error).__name__}: {error}"}]
    print("\n".join(json.dumps(output) for output in outputs), flush=True)
