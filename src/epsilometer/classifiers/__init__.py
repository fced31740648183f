"""Classifiers that separate the outputs of x and of x'; they see arrays, never a mechanism.

To add one: a module here, a line below; `scikit_learn` takes any of that library by its name.
"""

from epsilometer.registry import Registry

CLASSIFIERS = Registry(
    "classifier",
    {
        "counting": "epsilometer.classifiers.counting:Counting",
        "hamming_neighbours": "epsilometer.classifiers.hamming:HammingNeighbours",
        "nearest_neighbours": "epsilometer.classifiers.neighbours:NearestNeighbours",
        "scikit_learn": "epsilometer.classifiers.learned:ScikitLearn",
    },
)
