# Draw a batch of runs of one mechanism at one epsilon on one set of inputs. Methods of two stages then
# get fresh samples of the pair that each run selected.
#
# `jobs` has what Python decides, all in epsilometer_workflow/products/jobs.py: `spec`, the identity of the
# file; `code`, a digest of the job's code (docs/architecture.md); memory; and inputs of variable number.


rule sample:
    output:
        temporary(
            "results/{scale}/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.parquet"
        ),
    log:
        "results/{scale}/logs/samples/{mechanism}/epsilon={epsilon}/{inputs}/n={n}/runs={batch}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("sample"),
    params:
        spec=jobs.spec("sample"),
        code=jobs.code("sample"),
    script:
        "../../src/epsilometer_workflow/stages/sample.py"


rule confirm:
    input:
        losses="results/{scale}/losses/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet",
    output:
        temporary(
            "results/{scale}/confirmations/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.parquet"
        ),
    log:
        "results/{scale}/logs/confirmations/{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}+{fresh}/runs={batch}.log",
    priority: 5
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=jobs.memory("confirm"),
    params:
        spec=jobs.spec("confirm"),
        code=jobs.code("confirm"),
    script:
        "../../src/epsilometer_workflow/stages/confirm.py"
