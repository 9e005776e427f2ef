/* options: --function f --with-respect-to x --of return
 * says: refused/names_of_ours.c:4: error: 'wg_value' is the name of something else in what is written: rename it
 */
static double wg_value(double x) { return x * x; }

double f(double x) { return wg_value(x); }
