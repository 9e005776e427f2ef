/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_vector.c:7: error: a field of union
 */
typedef double pair __attribute__((vector_size(16)));

union in {
    double at[2];
    pair both;
};
union out {
    pair both;
    double at[2];
};
double f(double x) {
    union in a = {{x, 2}};
    union out b;
    b.both = a.both * a.both;
    return b.at[0] + b.at[1];
}
