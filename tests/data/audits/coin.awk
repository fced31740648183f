BEGIN { srand(ARGV[3]); for (i = 0; i < ARGV[2]; i++) print (rand() < ARGV[4] + ARGV[1] / 4) }
