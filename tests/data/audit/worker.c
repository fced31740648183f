/* A worker in C: a number with Laplace noise of scale 1 (cc -O2 -o worker worker.c -lm). */
/* It is rounded to a multiple of 2^-30, as the low bits of a sum tell what was added. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t state;

static double uniform(void) { /* splitmix64, in (0, 1) */
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

int main(void) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        double x, u;
        long size;
        unsigned long seed;
        const char *request = "{\"input\": %lf, \"size\": %ld, \"seed\": %lu}";
        if (sscanf(line, request, &x, &size, &seed) != 3) {
            puts("{\"error\": \"the input is one number\"}");
            size = 0;
        } else {
            state = seed;
        }
        for (; size > 0; size--) {
            u = uniform() - 0.5;
            u = rint((x - copysign(log(1 - 2 * fabs(u)), u)) * 1073741824) / 1073741824;
            printf("%.17g\n", u);
        }
        fflush(stdout);
    }
    return 0;
}
