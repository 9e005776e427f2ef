/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union.c:5: error: a field of union 'number' depends on the inputs: write a structure, or say --accept-integers
 */
union number {
    double value;
    unsigned char bytes[8];
};

double f(double x) {
    union number n;
    n.value = x;
    return n.bytes[0] == 0 ? n.value : 0;
}
