"""epsilometer: estimates how private a mechanism is, from samples of its outputs alone.

It holds the estimators of four papers, and what they rest on: densities, classifiers, mechanisms
and exact values. It imports nothing of the auditor (`epsilometer_audit`) or of the workflow.
"""

__version__ = "1.0.0"
