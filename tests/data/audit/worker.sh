#!/bin/sh
# A worker for a shell: the true answer, 0 or 1, told with probability 3/4.
while read -r line; do
    x=$(printf '%s' "$line" | sed 's/.*"input": \([01]\),.*/\1/')
    size=$(printf '%s' "$line" | sed 's/.*"size": \([0-9]*\),.*/\1/')
    seed=$(printf '%s' "$line" | sed 's/.*"seed": \([0-9]*\)}.*/\1/')
    case $x in
    0 | 1)
        awk -v x="$x" -v size="$size" -v seed="$seed" 'BEGIN {
            srand(seed)
            for (i = 0; i < size; i++) print (rand() < 0.75 ? x : 1 - x)
        }'
        ;;
    *) echo '{"error": "the input is 0 or 1"}' ;;
    esac
done
