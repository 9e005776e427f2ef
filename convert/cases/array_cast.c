/* --function f --with-respect-to in[0:6] --of out[0:6]
 * Casts to pointers to arrays of variable length. out[i] = 2 in[i]. */
void f(int n, const double *in, double *out) {
    const double(*a)[n] = (const double(*)[n])in;
    double(*b)[n] = (double(*)[n])out;
    for (int i = 0; i < 6 / n; i++)
        for (int j = 0; j < n; j++) b[i][j] = 2 * a[i][j];
}
