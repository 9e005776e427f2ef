/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to s->{a --of return
 * says: (options): error: 's->{a': a } is missing
 */
struct s {
    double a;
};
double f(const struct s *s) { return s->a; }
