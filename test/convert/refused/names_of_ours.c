/* options: --function f --with-respect-to x --of return
 * says: refused/names_of_ours.c:5: error: 'wg_value' is the name of something else in what is written: rename it
 * says: refused/names_of_ours.c:7: error: 'wgc_x' is the name of something else in what is written: rename it
 */
static double wg_value(double x) { return x * x; }

double f(double x, double wgc_x) { return wg_value(x) + (x ?: wgc_x); }
