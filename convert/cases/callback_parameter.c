/* --function euler --with-respect-to y[0:1] --of y[0:1] --calls f=decay
 * Parameters that are functions: decay_wg is written, and goes into the arguments as f. With n = 2, h = .5:
 * dy/dy = .25. */
void euler(void f(double t, double y[], double to[]), int n, double h, double y[]) {
    double k[1];
    for (int i = 0; i < n; i++) {
        f(i * h, y, k);
        y[0] += h * k[0];
    }
}
void decay(double t, double y[], double to[]) { to[0] = -y[0] + 0 * t; }
