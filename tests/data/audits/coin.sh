while read -r line; do
    echo "$line" | awk -v p="$1" '{ gsub(/[^0-9 ]/, ""); srand($3); for (i = 0; i < $2; i++) print (rand() < p + $1 / 4) }'
done
