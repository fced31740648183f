"""Classifiers that separate the outputs of x and of x'; they see arrays, never a mechanism.

It may import `densities` and the layers below; `estimators` and the layers above may import it.
To add one: a module here and a line below. `scikit_learn` takes any classifier of that library.
"""

from epsilometer.settings.registry import Registry

CLASSIFIERS = Registry(
    "classifier",
    {
        "counting": "epsilometer.classifiers.discrete:Counting",
        "hamming_neighbours": "epsilometer.classifiers.discrete:HammingNeighbours",
        "nearest_neighbours": "epsilometer.classifiers.neighbours:NearestNeighbours",
        "scikit_learn": "epsilometer.classifiers.learned:ScikitLearn",
    },
    "epsilometer.classifiers",
)
