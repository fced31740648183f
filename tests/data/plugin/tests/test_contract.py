from epsilometer_survey.knn import NearestNeighbours
from epsilometer_survey.ratio import FrequencyRatio
from epsilometer_survey.survey import ExactSurvey, Survey

from epsilometer import testing


def test_everything_is_registered():
    testing.check_registered("epsilometer-survey")


def test_the_mechanism():
    testing.check_mechanism(Survey(1.0), inputs=[0, 1], outside=[2, -1, 0.5])


def test_its_exact_distribution():
    testing.check_exact(ExactSurvey(Survey(1.0)), Survey(1.0), inputs=[0, 1])


def test_the_bound():
    testing.check_estimator(FrequencyRatio())


def test_the_estimate():
    testing.check_estimator(NearestNeighbours(), runs=5)
