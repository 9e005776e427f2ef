/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to s --of return
 * says: (options): error: 's' is const struct s *: name numbers, of a structure its fields
 */
struct s {
    double a;
};
double f(const struct s *s) { return s->a; }
