"""The figures of the report: a renderer draws the rows of a table."""

from epsilometer_workflow.reports import style


@style.points("epsilon", "n")
def found(table):
    """Draw the share of the level against n, a line for each epsilon."""
    figure, ax = style.panel()
    for epsilon, rows in table.groupby("epsilon"):
        ax.plot(rows["n"], rows["share"], marker="o", label=f"epsilon = {epsilon:g}")
    ax.set(xscale="log", xlabel="draws a side", ylabel="bound / exact level")
    return figure
