/* --function f --with-respect-to x[0:2] --of y[0:2]
 * A function that remembers something has one version: `set` and `get` of store() share its static. A second
 * recording begins anew. dy/dx = {{1, 0}, {1, 1}}. */
static double store(int put, double v) {
    static double held = 0;
    if (put) held = v;
    return held;
}
void f(const double *x, double *y) {
    store(1, 0.5);
    store(1, store(0, 0) - 0.5 + x[0]);
    y[0] = store(0, 0);
    y[1] = store(0, 0) + x[1];
}
