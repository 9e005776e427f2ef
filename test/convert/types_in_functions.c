/* SPDX-License-Identifier: MIT */
/* Types that functions declare: structures of tables, enumerations, names of types; sizes of tables.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
static double series(double x) {
    struct term {
        int power;
        double factor;
    };
    static const struct term terms[] = {{1, 0.5}, {2, -0.25}, {3, 2.0}};
    static const int many = sizeof terms / sizeof(struct term);
    static const struct {
        int power;
        double factor;
    } more[] = {{2, 0.125}, {1, -1}};
    double sum = 0;
    for (int i = (int)(sizeof more / sizeof more[0]) - 1; i >= 0; i--)
        sum += more[i].factor * (more[i].power == 2 ? x * x : x);
    for (int i = 0; i < many; i++) {
        double p = terms[i].factor;
        for (int k = 0; k < terms[i].power; k++) p *= x;
        sum += p;
    }
    return sum;
}
static int twice(int k) { return 2 * k; }
static double chosen(double x, int k) {
    enum kind { LINE, SQUARE, CUBE };
    typedef enum kind kinds;
    typedef int (*rule)(int);
    const rule next = twice;
    struct scale {
        double by;
        int times;
    } s = {2, 3};
    const kinds is = k == 0 ? LINE : k == 1 ? SQUARE : CUBE;
    double a[CUBE] = {x, s.by * next(2)};
    if (is == SQUARE) return a[0] * a[0] * a[1];
    return is == LINE ? x : x * x * x * s.times;
}
double f(double x) { return series(x) * chosen(x, 1) + chosen(x, 2) - chosen(x, 0); }
