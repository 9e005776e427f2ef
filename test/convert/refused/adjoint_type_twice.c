/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: adjoint_type_twice.c:16: error: 'term' is declared in a function, and elsewhere, which cannot be turned round: give it a name of its own
 */
static double g(double x) {
    struct term {
        double factor;
    };
    static const struct term terms[] = {{0.5}, {2.0}};
    return terms[0].factor * x * x + terms[1].factor;
}

double f(double x) {
    double sum = 0;
    {
        struct term {
            int power;
        };
        static const struct term terms[] = {{1}, {2}};
        for (int i = 0; i < terms[1].power; i++) sum += g(x) * x;
    }
    return sum;
}
