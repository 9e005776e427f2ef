/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to s->b --of return
 * says: (options): error: 's->b': const struct s has no field 'b'
 */
struct s {
    double a;
};
double f(const struct s *s) { return s->a; }
