# The audits of one collection, their table and their page. The Snakefile that includes it names the
# `name`, and the key of --config that chooses of it (`choice`).

from pathlib import Path


module epsilometer:
    snakefile:
        "../../workflow/Snakefile"
    config:
        {key: value for key, value in config.items() if key != choice}


use rule * from epsilometer exclude all


include: "audits.smk"


from exhibition import collection

spec = collection.spec_of(study, name, config.get(choice))
RESULTS = f"results/{study.scale}"
TABLE = f"{RESULTS}/{name}.csv"
before = collection.rows_made(TABLE)


rule exhibit:
    default_target: True
    input:
        verdicts=[member["path"] for member in spec["members"]],
        template="../exhibition/page.html.j2",
        code="../exhibition/exhibit.py",
    output:
        csv=TABLE,
        parquet=f"{RESULTS}/{name}.parquet",
        page=f"{RESULTS}/{name}.html",
    params:
        spec=spec,
    script:
        "exhibit.py"


onstart:
    epsilometer.onstart()


onsuccess:
    epsilometer.onsuccess()
    print("\n".join(collection.lines(name, TABLE, before)))


onerror:
    epsilometer.onerror()
