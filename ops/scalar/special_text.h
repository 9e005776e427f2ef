/* SPDX-License-Identifier: MIT */
/* Generated from the special functions by ops/scalar/generate_text.c: `make generate`. Do not
 * edit.
 *
 * TEXT(name, text, needs): a definition as C, and which others it needs, by their
 * places in this list; -1 ends them. Then the vector functions, line by line. */
#ifdef TEXT
TEXT("wgi_hypot_da",
     "static inline double wgi_hypot_da(double a, double b, double v) {\n"
     "    return v > 0 && v <= 1.7976931348623157e308 ? a / v : wgi_hypot_da_rare(a, b);\n"
     "}\n",
     {34, -1})
TEXT("wgi_exp2_times",
     "static inline double wgi_exp2_times(double a, double v, double c) {\n"
     "    return v <= 1.7976931348623157e308 ? v * c : exp2(a - 1) * (2 * c);\n"
     "}\n",
     {-1})
TEXT("wgi_xlogy",
     "static inline double wgi_xlogy(double a, double b) {\n"
     "    return a == 0 && b == b ? 0.0 : a * log(b);\n"
     "}\n",
     {-1})
TEXT("wgi_sigmoid",
     "static inline double wgi_sigmoid(double a) {\n"
     "    const double e = exp(-fabs(a));\n"
     "    return (a < 0 ? e : 1.0) / (1 + e);\n"
     "}\n",
     {-1})
TEXT("wgi_sigmoid_d",
     "static inline double wgi_sigmoid_d(double a, double s) {\n"
     "    const double e = exp(-fabs(a));\n"
     "    return a < 0 ? s * (1 - s) : e * s * s;\n"
     "}\n",
     {-1})
TEXT("wgi_softplus",
     "static inline double wgi_softplus(double a) {\n"
     "    return (a > 0 ? a : 0.0) + log1p(exp(-fabs(a)));\n"
     "}\n",
     {-1})
TEXT("wgi_atan_d",
     "static inline double wgi_atan_d(double a) {\n"
     "    return fabs(a) < 1e9 ? 1 / (1 + a * a) : (1 / a) / a;\n"
     "}\n",
     {-1})
TEXT("wgi_atan2_da",
     "static inline double wgi_atan2_da(double a, double b) {\n"
     "    double s = a * a + b * b;\n"
     "    return s > 1e-280 && s < 1e280 ? b / s : wgi_atan2_da_rare(a, b);\n"
     "}\n",
     {58, -1})
TEXT("wgi_tanh",
     "static inline double wgi_tanh(double a) {\n"
     "    const double e = exp(-2 * fabs(a)), s = a * a;\n"
     "    const double rest = s * (45045 + s * (2772 + s * 27)) /\n"
     "                        (135135 + s * (62370 + s * (3150 + s * 28)));\n"
     "    return fabs(a) < 0.5 ? copysign(a - a * rest, a) : copysign(1 - 2 * e / (1 + e), a);\n"
     "}\n",
     {-1})
TEXT("wgi_tanh_d",
     "static inline double wgi_tanh_d(double a, double v) {\n"
     "    const double e = exp(-2 * fabs(a)), q = 2 * e / (1 + e);\n"
     "    return fabs(a) < 0.5 ? (1 - v) * (1 + v) : q * (2 - q);\n"
     "}\n",
     {-1})
TEXT("wgi_asinh_d",
     "static inline double wgi_asinh_d(double a) {\n"
     "    return fabs(a) < 1e9 ? 1 / sqrt(1 + a * a) : 1 / fabs(a);\n"
     "}\n",
     {-1})
TEXT("wgi_acosh_d",
     "static inline double wgi_acosh_d(double a) { return 1 / (sqrt(a - 1) * sqrt(a + 1)); }\n",
     {-1})
TEXT("wgi_acoth_d",
     "static inline double wgi_acoth_d(double a) {\n"
     "    return fabs(a) < 1 ? NAN : 1 / (1 - a) / (1 + a);\n"
     "}\n",
     {-1})
TEXT("wgi_sigmoid_dd",
     "static inline double wgi_sigmoid_dd(double a, double s) {\n"
     "    return -wgi_sigmoid_d(a, s) * tanh(0.5 * a);\n"
     "}\n",
     {4, -1})
TEXT("wgi_atan_dd",
     "static inline double wgi_atan_dd(double a) {\n"
     "    double d = wgi_atan_d(a);\n"
     "    return fabs(a) < 1e9 ? -2 * a * d * d : -2 * d / a;\n"
     "}\n",
     {6, -1})
TEXT("wgi_asinh_dd",
     "static inline double wgi_asinh_dd(double a) {\n"
     "    double d = wgi_asinh_d(a);\n"
     "    return fabs(a) < 1e9 ? -a * d * d * d : -d / a;\n"
     "}\n",
     {10, -1})
TEXT("wgi_acosh_dd",
     "static inline double wgi_acosh_dd(double a) {\n"
     "    double d = wgi_acosh_d(a);\n"
     "    return a < 1e9 ? -a * d * d * d : -d / a;\n"
     "}\n",
     {11, -1})
TEXT("wgi_acoth_dd",
     "static inline double wgi_acoth_dd(double a) {\n"
     "    double d = wgi_acoth_d(a);\n"
     "    return fabs(a) < 1e9 ? 2 * a * d * d : -2 * d / a;\n"
     "}\n",
     {12, -1})
TEXT("wgi_poly_horner",
     "static inline double wgi_poly_horner(size_t n, const double *k, double t) {\n"
     "    double s = k[n - 1];\n"
     "    for (size_t i = n - 1; i-- > 0;) s = s * t + k[i];\n"
     "    return s;\n"
     "}\n",
     {-1})
TEXT("wgi_poly_HORNER",
     "#define wgi_poly_HORNER(k, t) wgi_poly_horner(sizeof(k) / sizeof(k)[0], k, t)\n",
     {18, -1})
TEXT("wgi_special_COUNT",
     "#define wgi_special_COUNT(t) (sizeof(t) / sizeof(t)[0])\n",
     {-1})
TEXT("wgi_special_finite_nonzero",
     "static int wgi_special_finite_nonzero(double t) { return t != 0 && fabs(t) <= 1.7976931348623157e308; }\n",
     {-1})
TEXT("wgi_special_moderate",
     "static int wgi_special_moderate(double t) { return fabs(t) > 1e-290 && fabs(t) < 1e290; }\n",
     {-1})
TEXT("wgi_special_scaled",
     "static double wgi_special_scaled(size_t n, const double *num, size_t m, const double *den, int shift) {\n"
     "    double t = 1;\n"
     "    int e;\n"
     "    for (size_t i = 0; i < n; i++) {\n"
     "        t *= frexp(num[i], &e);\n"
     "        shift += e;\n"
     "    }\n"
     "    for (size_t i = 0; i < m; i++) {\n"
     "        t /= frexp(den[i], &e);\n"
     "        shift -= e;\n"
     "    }\n"
     "    return ldexp(t, shift);\n"
     "}\n",
     {-1})
TEXT("wgi_special_SCALED",
     "#define wgi_special_SCALED(num, den, shift) wgi_special_scaled(wgi_special_COUNT(num), num, wgi_special_COUNT(den), den, shift)\n",
     {23, 20, -1})
TEXT("wgi_special_difference",
     "static double wgi_special_difference(double a, double b, double *lost) {\n"
     "    double s = a - b, t = s - a;\n"
     "    *lost = fabs(s) <= 1.7976931348623157e308 ? (a - (s - t)) - (b + t) : 0.0;\n"
     "    return s;\n"
     "}\n",
     {-1})
TEXT("wgi_special_half_pow",
     "static double wgi_special_half_pow(double a, double b) { return pow(fabs(a), 0.5 * b); }\n",
     {-1})
TEXT("wgi_special_lower_pow",
     "static double wgi_special_lower_pow(double a, double b, int k, double v) {\n"
     "    double lost, s = wgi_special_difference(b, k, &lost), p = pow(a, s);\n"
     "    if (a < 0 && fabs(b) > 9007199254740992.0) p = copysign(p, k == 1 ? -v : v);\n"
     "    return lost == 0 || !wgi_special_finite_nonzero(p) ? p : p * (1 + lost * log(fabs(a)));\n"
     "}\n",
     {25, 21, -1})
TEXT("wgi_special_times",
     "static double wgi_special_times(double t, double p) { return p == 0 ? 0.0 : t * p; }\n",
     {-1})
TEXT("wgi_pow_da",
     "static double wgi_pow_da(double a, double b, double v) {\n"
     "    if (b == 0) return a != a ? 0.0 : 0.0 * copysign(1.0, a);\n"
     "    if (b == 1) return 1;\n"
     "    if (b == 2) return 2 * a;\n"
     "    double q = v / a, r = b * q;\n"
     "    if (wgi_special_moderate(v) && wgi_special_moderate(q) && wgi_special_moderate(r)) return r;\n"
     "    if (v != v) return v;\n"
     "    double h = wgi_special_half_pow(a, b);\n"
     "    if (!wgi_special_finite_nonzero(a) || !wgi_special_moderate(h)) return wgi_special_times(b, wgi_special_lower_pow(a, b, 1, v));\n"
     "    const double num[] = {b, h, copysign(h, v)}, den[] = {a};\n"
     "    return wgi_special_SCALED(num, den, 0);\n"
     "}\n",
     {22, 26, 21, 28, 27, 24, -1})
TEXT("wgi_pow_db",
     "static double wgi_pow_db(double a, double b, double v) {\n"
     "    if (a == 0) return b < 0 ? -INFINITY : b >= 0 ? 0.0 : b;\n"
     "    if (v == 0 && (fabs(b) > 1.7976931348623157e308 || a > 1.7976931348623157e308)) return 0;\n"
     "    double l = log(a), r = v * l;\n"
     "    if (wgi_special_moderate(v) || !(a > 0)) return r;\n"
     "    double h = wgi_special_half_pow(a, b);\n"
     "    if (!wgi_special_moderate(h) || !wgi_special_finite_nonzero(l)) return r;\n"
     "    const double num[] = {h, h, l};\n"
     "    return wgi_special_scaled(wgi_special_COUNT(num), num, 0, NULL, 0);\n"
     "}\n",
     {22, 26, 21, 23, 20, -1})
TEXT("wgi_pow_daa",
     "static double wgi_pow_daa(double a, double b, double v) {\n"
     "    if (b == 0 || b == 1) return 0;\n"
     "    if (b == 2) return 2;\n"
     "    double q = v / a / a, r = b * (b - 1) * q;\n"
     "    if (wgi_special_moderate(v) && wgi_special_moderate(v / a) && wgi_special_moderate(q) && wgi_special_moderate(r)) return r;\n"
     "    if (v != v) return v;\n"
     "    double h = wgi_special_half_pow(a, b);\n"
     "    if (!wgi_special_finite_nonzero(a) || !wgi_special_moderate(h))\n"
     "        return wgi_special_times(b, wgi_special_times(b - 1, wgi_special_lower_pow(a, b, 2, v)));\n"
     "    const double num[] = {b, b - 1, h, copysign(h, v)}, den[] = {a, a};\n"
     "    return wgi_special_SCALED(num, den, 0);\n"
     "}\n",
     {22, 26, 21, 28, 27, 24, -1})
TEXT("wgi_pow_dab",
     "static double wgi_pow_dab(double a, double b, double v) {\n"
     "    if (a < 0) return NAN;\n"
     "    if (a == 0) return b > 1 ? 0.0 : b == 1 ? -INFINITY : b > 0 ? -INFINITY : INFINITY;\n"
     "    double l = log(a), q = v / a, s = fma(b, l, 1.0), r = q * s;\n"
     "    if (wgi_special_moderate(v) && wgi_special_moderate(q)) return r;\n"
     "    double h = wgi_special_half_pow(a, b);\n"
     "    if (!wgi_special_moderate(h) || !wgi_special_finite_nonzero(s) || !wgi_special_finite_nonzero(a))\n"
     "        return wgi_special_times(s, wgi_special_lower_pow(a, b, 1, v));\n"
     "    const double num[] = {h, h, s}, den[] = {a};\n"
     "    return wgi_special_SCALED(num, den, 0);\n"
     "}\n",
     {22, 26, 21, 28, 27, 24, -1})
TEXT("wgi_pow_dbb",
     "static double wgi_pow_dbb(double a, double b, double v) {\n"
     "    if (a == 0) return b < 0 ? INFINITY : b >= 0 ? 0.0 : b;\n"
     "    if (v == 0 && (fabs(b) > 1.7976931348623157e308 || a > 1.7976931348623157e308)) return 0;\n"
     "    double l = log(a), r = v * l * l;\n"
     "    if (wgi_special_moderate(v) || !(a > 0)) return r;\n"
     "    double h = wgi_special_half_pow(a, b);\n"
     "    if (!wgi_special_moderate(h) || !wgi_special_finite_nonzero(l)) return r;\n"
     "    const double num[] = {h, h, l, l};\n"
     "    return wgi_special_scaled(wgi_special_COUNT(num), num, 0, NULL, 0);\n"
     "}\n",
     {22, 26, 21, 23, 20, -1})
TEXT("wgi_hypot_da_rare",
     "static double wgi_hypot_da_rare(double a, double b) {\n"
     "    if (a == 0 && b == 0) return 0;\n"
     "    if (a != a || b != b) return NAN;\n"
     "    if (fabs(a) > 1.7976931348623157e308) return copysign(fabs(b) > 1.7976931348623157e308 ? 0.707106781186547524401 : 1.0, a);\n"
     "    return fabs(b) > 1.7976931348623157e308 ? 0.0 : 0.5 * a / hypot(0.5 * a, 0.5 * b);\n"
     "}\n",
     {-1})
TEXT("wgi_special_hypot_second",
     "static double wgi_special_hypot_second(double p, double q, double a, double b) {\n"
     "    if (a != a || b != b) return NAN;\n"
     "    if (!(fabs(a) <= 1.7976931348623157e308 && fabs(b) <= 1.7976931348623157e308) || p == 0 || q == 0) return 0;\n"
     "    double h = hypot(0.25 * a, 0.25 * b);\n"
     "    int s = 2;\n"
     "    if (h < 1e-290) {\n"
     "        h = hypot(ldexp(a, 200), ldexp(b, 200));\n"
     "        s = -200;\n"
     "    }\n"
     "    const double num[] = {p, q}, den[] = {h, h, h};\n"
     "    return wgi_special_SCALED(num, den, -3 * s);\n"
     "}\n",
     {24, -1})
TEXT("wgi_hypot_daa",
     "static double wgi_hypot_daa(double a, double b, double v) {\n"
     "    double t = b / v, r = t * t / v;\n"
     "    return wgi_special_moderate(v) && wgi_special_moderate(t * t) ? r : wgi_special_hypot_second(b, b, a, b);\n"
     "}\n",
     {22, 35, -1})
TEXT("wgi_hypot_dab",
     "static double wgi_hypot_dab(double a, double b, double v) {\n"
     "    double t = (a / v) * (b / v);\n"
     "    return wgi_special_moderate(v) && wgi_special_moderate(t) ? -t / v : -wgi_special_hypot_second(a, b, a, b);\n"
     "}\n",
     {22, 35, -1})
TEXT("wgi_log1mexp",
     "static double wgi_log1mexp(double a) { return a > -0.693147180559945309417 ? log(-expm1(a)) : log1p(-exp(a)); }\n",
     {-1})
TEXT("wgi_log1mexp_d",
     "static double wgi_log1mexp_d(double a) { return a > 0 ? NAN : -(exp(a) / fabs(expm1(a))); }\n",
     {-1})
TEXT("wgi_log1mexp_dd",
     "static double wgi_log1mexp_dd(double a) {\n"
     "    double m = fabs(expm1(a));\n"
     "    return a > 0 ? NAN : -(exp(a) / m / m);\n"
     "}\n",
     {-1})
TEXT("wgi_log_base",
     "static double wgi_log_base(double a, double b) {\n"
     "    return b == 2 ? log2(a) : b == 10 ? log10(a) : log(a) / log(b);\n"
     "}\n",
     {-1})
TEXT("wgi_log_base_da",
     "static double wgi_log_base_da(double a, double b, double v) {\n"
     "    return a < 0 || v != v ? NAN : 1 / fabs(a) / log(b);\n"
     "}\n",
     {-1})
TEXT("wgi_log_base_db",
     "static double wgi_log_base_db(double a, double b, double v) {\n"
     "    (void)a;\n"
     "    return -v / b / log(b);\n"
     "}\n",
     {-1})
TEXT("wgi_log_base_daa",
     "static double wgi_log_base_daa(double a, double b, double v) {\n"
     "    return a < 0 || v != v ? NAN : -(1 / a) / a / log(b);\n"
     "}\n",
     {-1})
TEXT("wgi_log_base_dab",
     "static double wgi_log_base_dab(double a, double b, double v) {\n"
     "    double l = log(b);\n"
     "    return a < 0 || v != v ? NAN : -(1 / fabs(a) / l) / b / l;\n"
     "}\n",
     {-1})
TEXT("wgi_log_base_dbb",
     "static double wgi_log_base_dbb(double a, double b, double v) {\n"
     "    double l = log(b);\n"
     "    (void)a;\n"
     "    return v / b / b * (l + 2) / l / l;\n"
     "}\n",
     {-1})
TEXT("wgi_log_add_exp",
     "static double wgi_log_add_exp(double a, double b) {\n"
     "    if (a == b) return a + 0.693147180559945309417;\n"
     "    if (a != a || b != b) return a + b;\n"
     "    return fmax(a, b) + log1p(exp(-fabs(a - b)));\n"
     "}\n",
     {-1})
TEXT("wgi_log_add_exp_da",
     "static double wgi_log_add_exp_da(double a, double b) {\n"
     "    if (a == b) return 0.5;\n"
     "    double lost, s = wgi_special_difference(a, b, &lost);\n"
     "    return wgi_sigmoid(s) * (1 + lost * wgi_sigmoid(-s));\n"
     "}\n",
     {25, 3, -1})
TEXT("wgi_log_add_exp_daa",
     "static double wgi_log_add_exp_daa(double a, double b) {\n"
     "    return wgi_log_add_exp_da(a, b) * wgi_log_add_exp_da(b, a);\n"
     "}\n",
     {48, -1})
TEXT("wgi_log_diff_exp",
     "static double wgi_log_diff_exp(double a, double b) {\n"
     "    if (a == b) return -INFINITY;\n"
     "    if (b == -INFINITY) return a;\n"
     "    double lost, s = wgi_special_difference(b, a, &lost);\n"
     "    return a + (wgi_log1mexp(s) + (lost == 0 ? 0.0 : lost * wgi_log1mexp_d(s)));\n"
     "}\n",
     {25, 38, 39, -1})
TEXT("wgi_log_diff_exp_da",
     "static double wgi_log_diff_exp_da(double a, double b) {\n"
     "    if (a == b) return INFINITY;\n"
     "    double lost, s = wgi_special_difference(b, a, &lost);\n"
     "    return s < 0 ? -1 / (expm1(s) + lost * exp(s)) : NAN;\n"
     "}\n",
     {25, -1})
TEXT("wgi_log_diff_exp_db",
     "static double wgi_log_diff_exp_db(double a, double b) {\n"
     "    if (a == b) return -INFINITY;\n"
     "    double lost, s = wgi_special_difference(b, a, &lost);\n"
     "    double e = exp(s);\n"
     "    return s < 0 ? e * (1 + lost) / (expm1(s) + lost * e) : NAN;\n"
     "}\n",
     {25, -1})
TEXT("wgi_log_diff_exp_daa",
     "static double wgi_log_diff_exp_daa(double a, double b) {\n"
     "    return wgi_log_diff_exp_da(a, b) * wgi_log_diff_exp_db(a, b);\n"
     "}\n",
     {51, 52, -1})
TEXT("wgi_logit",
     "static double wgi_logit(double a) {\n"
     "    if (a > 0.25 && a < 0.75) return 2 * atanh(2 * a - 1);\n"
     "    return a < 0.5 ? log(a / (1 - a)) : -log((1 - a) / a);\n"
     "}\n",
     {-1})
TEXT("wgi_logit_d",
     "static double wgi_logit_d(double a) { return a < 0 || a > 1 ? NAN : 1 / (fabs(a) * (1 - a)); }\n",
     {-1})
TEXT("wgi_logit_dd",
     "static double wgi_logit_dd(double a) {\n"
     "    double d = wgi_logit_d(a);\n"
     "    return (2 * a - 1) * d * d;\n"
     "}\n",
     {55, -1})
TEXT("wgi_special_norm2_scaled",
     "static double wgi_special_norm2_scaled(double a, double b, int *s) {\n"
     "    (void)frexp(fmax(fabs(a), fabs(b)), s);\n"
     "    return hypot(ldexp(a, -*s), ldexp(b, -*s));\n"
     "}\n",
     {-1})
TEXT("wgi_atan2_da_rare",
     "static double wgi_atan2_da_rare(double a, double b) {\n"
     "    int s;\n"
     "    if (a != a || b != b || (a == 0 && b == 0)) return NAN;\n"
     "    if (fabs(a) > 1.7976931348623157e308 || fabs(b) > 1.7976931348623157e308 || b == 0) return 0;\n"
     "    double h = wgi_special_norm2_scaled(a, b, &s);\n"
     "    const double num[] = {b}, den[] = {h, h};\n"
     "    return wgi_special_SCALED(num, den, -2 * s);\n"
     "}\n",
     {57, 24, -1})
TEXT("wgi_atan2_daa",
     "static double wgi_atan2_daa(double a, double b) {\n"
     "    double h2 = a * a + b * b, r = -2 * (a / h2) * (b / h2);\n"
     "    int s;\n"
     "    if (wgi_special_moderate(h2) && wgi_special_moderate(a / h2) && wgi_special_moderate(b / h2) && wgi_special_moderate(r)) return r;\n"
     "    if (a != a || b != b || (a == 0 && b == 0)) return NAN;\n"
     "    if (fabs(a) > 1.7976931348623157e308 || fabs(b) > 1.7976931348623157e308 || a == 0 || b == 0) return 0;\n"
     "    double h = wgi_special_norm2_scaled(a, b, &s);\n"
     "    const double num[] = {-2, a, b}, den[] = {h, h, h, h};\n"
     "    return wgi_special_SCALED(num, den, -4 * s);\n"
     "}\n",
     {22, 57, 24, -1})
TEXT("wgi_atan2_dab",
     "static double wgi_atan2_dab(double a, double b) {\n"
     "    double h2 = a * a + b * b, r = (a - b) / h2 * ((a + b) / h2);\n"
     "    int s;\n"
     "    if (wgi_special_moderate(h2) && wgi_special_moderate((a - b) / h2) && wgi_special_moderate((a + b) / h2) && wgi_special_moderate(r))\n"
     "        return r;\n"
     "    if (a != a || b != b || (a == 0 && b == 0)) return NAN;\n"
     "    if (fabs(a) > 1.7976931348623157e308 || fabs(b) > 1.7976931348623157e308 || fabs(a) == fabs(b)) return 0;\n"
     "    double h = wgi_special_norm2_scaled(a, b, &s);\n"
     "    double p = ldexp(a, -s) - ldexp(b, -s), q = ldexp(a, -s) + ldexp(b, -s);\n"
     "    const double num[] = {p, q}, den[] = {h, h, h, h};\n"
     "    return wgi_special_SCALED(num, den, -2 * s);\n"
     "}\n",
     {22, 57, 24, -1})
TEXT("wgi_asec",
     "static double wgi_asec(double a) {\n"
     "    double t = fabs(a);\n"
     "    return atan2(sqrt(t - 1) * sqrt(t + 1), copysign(1.0, a));\n"
     "}\n",
     {-1})
TEXT("wgi_acsc",
     "static double wgi_acsc(double a) {\n"
     "    double t = fabs(a);\n"
     "    return atan2(copysign(1.0, a), sqrt(t - 1) * sqrt(t + 1));\n"
     "}\n",
     {-1})
TEXT("wgi_asec_d",
     "static double wgi_asec_d(double a) {\n"
     "    double t = fabs(a);\n"
     "    return 1 / t / (sqrt(t - 1) * sqrt(t + 1));\n"
     "}\n",
     {-1})
TEXT("wgi_asec_dd",
     "static double wgi_asec_dd(double a) {\n"
     "    double d = wgi_asec_d(a);\n"
     "    return fabs(a) < 1e9 ? -d * (1 / a + a / (fabs(a) - 1) / (fabs(a) + 1)) : -2 * d / a;\n"
     "}\n",
     {63, -1})
TEXT("wgi_sinpi",
     "static double wgi_sinpi(double a) {\n"
     "    double r = remainder(a, 2.0), t = fabs(r);\n"
     "    if (t > 0.5) t = 1 - t;\n"
     "    return copysign(t <= 0.25 ? sin(3.14159265358979323846 * t) : cos(3.14159265358979323846 * (0.5 - t)), r);\n"
     "}\n",
     {-1})
TEXT("wgi_cospi",
     "static double wgi_cospi(double a) {\n"
     "    double t = fabs(remainder(a, 2.0)), s = t > 0.5 ? -1.0 : 1.0;\n"
     "    if (t > 0.5) t = 1 - t;\n"
     "    return s * (t <= 0.25 ? cos(3.14159265358979323846 * t) : sin(3.14159265358979323846 * (0.5 - t)));\n"
     "}\n",
     {-1})
TEXT("wgi_sech",
     "static double wgi_sech(double a) {\n"
     "    double e = exp(-fabs(a));\n"
     "    return 2 * e / (1 + e * e);\n"
     "}\n",
     {-1})
TEXT("wgi_csch",
     "static double wgi_csch(double a) {\n"
     "    return fabs(a) < 700 ? 1 / sinh(a) : copysign(2 * exp(-fabs(a)), a);\n"
     "}\n",
     {-1})
TEXT("wgi_asech",
     "static double wgi_asech(double a) {\n"
     "    if (a > 0.5) return asinh(sqrt((1 - a) * (1 + a)) / a);\n"
     "    return a < 1e-300 ? 0.693147180559945309417 - log(a) : acosh(1 / a);\n"
     "}\n",
     {-1})
TEXT("wgi_asech_d",
     "static double wgi_asech_d(double a) { return a < 0 ? NAN : -1 / fabs(a) / sqrt((1 - a) * (1 + a)); }\n",
     {-1})
TEXT("wgi_asech_dd",
     "static double wgi_asech_dd(double a) {\n"
     "    double s = (1 - a) * (1 + a);\n"
     "    return a < 0 ? NAN : fma(-2 * a, a, 1.0) / s / sqrt(s) / a / a;\n"
     "}\n",
     {-1})
TEXT("wgi_acsch",
     "static double wgi_acsch(double a) {\n"
     "    return fabs(a) < 1e-300 ? copysign(0.693147180559945309417 - log(fabs(a)), a) : asinh(1 / a);\n"
     "}\n",
     {-1})
TEXT("wgi_acsch_d",
     "static double wgi_acsch_d(double a) { return -wgi_asinh_d(a) / fabs(a); }\n",
     {10, -1})
TEXT("wgi_acsch_dd",
     "static double wgi_acsch_dd(double a) {\n"
     "    double d = wgi_asinh_d(a);\n"
     "    return fabs(a) < 1e9 ? (1 + 2 * a * a) * d * d * d / a / fabs(a) : 2 * d / a / fabs(a);\n"
     "}\n",
     {10, -1})
TEXT("wgi_acoth",
     "static double wgi_acoth(double a) { return copysign(0.5 * log1p(2 / (fabs(a) - 1)), a); }\n",
     {-1})
TEXT("wgi_normal_gauss",
     "static double wgi_normal_gauss(double a, double c, double k) {\n"
     "    double s = a * a;\n"
     "    if (!(s < 2000)) return s == s ? 0.0 : s;\n"
     "    k *= 1 - c * fma(a, a, -s);\n"
     "    if (c * s < 700) return k * exp(-c * s);\n"
     "    double h = exp(-0.5 * c * s);\n"
     "    return k * h * h;\n"
     "}\n",
     {-1})
TEXT("wgi_exp_msq",
     "static double wgi_exp_msq(double a) { return wgi_normal_gauss(a, 1.0, 1.0); }\n",
     {76, -1})
TEXT("wgi_erf_dd",
     "static double wgi_erf_dd(double a) { return wgi_normal_gauss(a, 1.0, -2.25675833419102514779 * a); }\n",
     {76, -1})
TEXT("wgi_phi",
     "static double wgi_phi(double a) { return wgi_normal_gauss(a, 0.5, 0.398942280401432677940); }\n",
     {76, -1})
TEXT("wgi_phi_d",
     "static double wgi_phi_d(double a) { return wgi_normal_gauss(a, 0.5, -0.398942280401432677940 * a); }\n",
     {76, -1})
TEXT("wgi_normal_MILLS_T",
     "static const double wgi_normal_MILLS_T[] = {\n"
     "    0.322744797663907251,     -0.177947602842230886,     0.0857572620740509543,\n"
     "    -0.0363208538329582266,   0.0133735289491680449,     -0.00411787430382116672,\n"
     "    0.0009350661075507187,    -0.0000617192273414633819, -0.0000836354363475630775,\n"
     "    0.0000608468533958065333, -0.0000269527749403349719, 8.61178385210298587e-6,\n"
     "    -1.67749639715261347e-6,  -1.56178006436213326e-7,   3.40853631929859907e-7,\n"
     "    -1.96287328083151366e-7,  7.6978415026286992e-8,     -2.09767931682506291e-8,\n"
     "    2.1033940315116081e-9,    1.59937938722760728e-9,    -1.1341920846038115e-9,\n"
     "    5.85402205000643423e-10,  -3.31726674540214449e-10,  7.56256691575696537e-11,\n"
     "    4.13842957976634584e-11,  -1.93417793430515371e-11};\n",
     {-1})
TEXT("wgi_normal_MILLS_U",
     "static const double wgi_normal_MILLS_U[] = {\n"
     "    0.598423296791161929,     -0.291662631759384204,   0.118614586887388666,\n"
     "    -0.0398388275134272721,   0.0103801274180967184,   -0.00159820062411898835,\n"
     "    -0.000217990131201715527, 0.000279884201916209568, -0.000120084044679316012,\n"
     "    0.0000302104202760748495, -1.57003035629621893e-6, -2.86637546120298291e-6,\n"
     "    1.736878360291578e-6,     -5.78364820265643196e-7, 9.3803060412001244e-8,\n"
     "    2.25803309373245668e-8,   -2.42811680082039181e-8, 1.03345745415451369e-8,\n"
     "    -2.50280331884072519e-9,  5.09437147657869046e-11, 2.76102700987302714e-10,\n"
     "    -1.69722638067581706e-10, 6.82400655913195697e-11, -8.16743069805809505e-12,\n"
     "    -8.17662470005256598e-12, 3.00635661268708334e-12};\n",
     {-1})
TEXT("wgi_normal_fraction",
     "static double wgi_normal_fraction(double x, int k) {\n"
     "    double t = 0;\n"
     "    for (int i = 16 + (int)(400 / (x * x)); i >= k; i--) t = i / (x + t);\n"
     "    return t;\n"
     "}\n",
     {-1})
TEXT("wgi_normal_mills_t",
     "static double wgi_normal_mills_t(double x) {\n"
     "    return x < 4.5 ? wgi_poly_HORNER(wgi_normal_MILLS_T, 0.5 * (x - 2.5)) : wgi_normal_fraction(x, 1);\n"
     "}\n",
     {19, 81, 83, -1})
TEXT("wgi_normal_mills_u",
     "static double wgi_normal_mills_u(double x) {\n"
     "    return x < 4.5 ? wgi_poly_HORNER(wgi_normal_MILLS_U, 0.5 * (x - 2.5)) : wgi_normal_fraction(x, 2);\n"
     "}\n",
     {19, 82, 83, -1})
TEXT("wgi_Phi",
     "static double wgi_Phi(double a) {\n"
     "    if (a < -0.5) return wgi_normal_gauss(a, 0.5, 0.398942280401432677940 / (-a + wgi_normal_mills_t(-a)));\n"
     "    if (a > 0.5) return 1 - wgi_Phi(-a);\n"
     "    return 0.5 + 0.5 * erf(0.707106781186547524401 * a);\n"
     "}\n",
     {76, 84, -1})
TEXT("wgi_log_Phi",
     "static double wgi_log_Phi(double a) {\n"
     "    if (a < -0.5) return -0.5 * a * a - log(2.50662827463100050242 * (-a + wgi_normal_mills_t(-a)));\n"
     "    return a > 0 ? log1p(-wgi_Phi(-a)) : log(wgi_Phi(a));\n"
     "}\n",
     {84, 86, -1})
TEXT("wgi_log_Phi_d",
     "static double wgi_log_Phi_d(double a) { return a < -0.5 ? -a + wgi_normal_mills_t(-a) : wgi_phi(a) / wgi_Phi(a); }\n",
     {84, 79, 86, -1})
TEXT("wgi_log_Phi_dd",
     "static double wgi_log_Phi_dd(double a) {\n"
     "    double m = wgi_log_Phi_d(a);\n"
     "    if (m == 0) return 0;\n"
     "    if (m > 1.7976931348623157e308) return -1;\n"
     "    return a < -0.5 ? -m * wgi_normal_mills_t(-a) : -m * (a + m);\n"
     "}\n",
     {88, 84, -1})
TEXT("wgi_erfcx",
     "static double wgi_erfcx(double a) {\n"
     "    double x = 1.41421356237309504880 * a, s = a * a;\n"
     "    if (x > 0.5) return 0.797884560802865355880 / (x + wgi_normal_mills_t(x));\n"
     "    return s < 1000 ? exp(s) * (1 + fma(a, a, -s)) * erfc(a) : s == s ? INFINITY : s;\n"
     "}\n",
     {84, -1})
TEXT("wgi_erfcx_d",
     "static double wgi_erfcx_d(double a, double v) {\n"
     "    double x = 1.41421356237309504880 * a;\n"
     "    return x > 0.5 ? -1.41421356237309504880 * wgi_normal_mills_t(x) * v : 2 * a * v - 1.12837916709551257390;\n"
     "}\n",
     {84, -1})
TEXT("wgi_erfcx_dd",
     "static double wgi_erfcx_dd(double a, double v) {\n"
     "    double x = 1.41421356237309504880 * a;\n"
     "    return x > 0.5 ? 2 * v * wgi_normal_mills_t(x) * wgi_normal_mills_u(x) : 2 * v + 2 * a * wgi_erfcx_d(a, v);\n"
     "}\n",
     {84, 85, 91, -1})
TEXT("wgi_normal_quantile",
     "static double wgi_normal_quantile(double p) {\n"
     "    double x;\n"
     "    if (p > 0.2) {\n"
     "        double q = 0.5 - p;\n"
     "        x = 2.50662827463100050242 * q * (1 + 3.14159265358979323846 / 3 * q * q);\n"
     "        for (int i = 0; i < 4; i++) {\n"
     "            double f = (0.5 * erf(0.707106781186547524401 * x) - q) / wgi_phi(x);\n"
     "            x -= f / (1 + 0.5 * x * f);\n"
     "        }\n"
     "        return x;\n"
     "    }\n"
     "    double l = log(p), y = -2 * l;\n"
     "    x = sqrt(y - log(2 * 3.14159265358979323846 * fmax(y - log(2 * 3.14159265358979323846 * y), 0.5)));\n"
     "    for (int i = 0; i < 5; i++) x += (wgi_log_Phi(-x) - l) / wgi_log_Phi_d(-x);\n"
     "    return x;\n"
     "}\n",
     {79, 87, 88, -1})
TEXT("wgi_inv_Phi",
     "static double wgi_inv_Phi(double a) {\n"
     "    if (!(a > 0 && a < 1)) return a == 0 ? -INFINITY : a == 1 ? INFINITY : NAN;\n"
     "    if (a == 0.5) return 0;\n"
     "    return a < 0.5 ? -wgi_normal_quantile(a) : wgi_normal_quantile(1 - a);\n"
     "}\n",
     {93, -1})
TEXT("wgi_inv_Phi_d",
     "static double wgi_inv_Phi_d(double a, double v) {\n"
     "    if (!(a > 0 && a < 1)) return a == 0 || a == 1 ? INFINITY : NAN;\n"
     "    return 1 / (fmin(a, 1 - a) * wgi_log_Phi_d(-fabs(v)));\n"
     "}\n",
     {88, -1})
TEXT("wgi_inv_Phi_dd",
     "static double wgi_inv_Phi_dd(double a, double v) {\n"
     "    double d = wgi_inv_Phi_d(a, v);\n"
     "    return v * d * d;\n"
     "}\n",
     {95, -1})
TEXT("wgi_lgamma",
     "static double wgi_lgamma(double a) {\n"
     "    int sign;\n"
     "    return lgamma_r(a, &sign);\n"
     "}\n",
     {-1})
TEXT("wgi_gamma_DIGAMMA",
     "static const double wgi_gamma_DIGAMMA[] = {\n"
     "    0.951055876031832893,      -0.211813710640730252,    0.0601356210601935546,\n"
     "    -0.0185506153817386072,    0.00593679527843382583,   -0.00193506666478326662,\n"
     "    0.000636888028319074,      -0.000210748412157330069, 0.0000699502048416062476,\n"
     "    -0.0000232582382843137593, 7.74115688125370707e-6,   -2.5781078482702169e-6,\n"
     "    8.59132422241766613e-7,    -2.86287552800386846e-7,  9.50092619292409624e-8,\n"
     "    -3.16661807202716207e-8,   1.10370884388543002e-8,   -3.6788868183645545e-9,\n"
     "    8.66825737376165726e-10,   -2.88936363921611136e-10, 2.47654744400317636e-10,\n"
     "    -8.25512972008104003e-11};\n",
     {-1})
TEXT("wgi_gamma_PSI0",
     "static const double wgi_gamma_PSI0[] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,\n"
     "                              1. / 132, -691. / 32760, 1. / 12,  -3617. / 8160};\n",
     {-1})
TEXT("wgi_gamma_PSI1",
     "static const double wgi_gamma_PSI1[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,\n"
     "                              5. / 66, -691. / 2730, 7. / 6,  -3617. / 510};\n",
     {-1})
TEXT("wgi_gamma_PSI2",
     "static const double wgi_gamma_PSI2[] = {1. / 2,   -1. / 6,    1. / 6,\n"
     "                              -3. / 10, 5. / 6,     -691. * 11 / 2730 * 13 / 11,\n"
     "                              35. / 2,  -3617. / 30};\n",
     {-1})
TEXT("wgi_gamma_is_pole",
     "static int wgi_gamma_is_pole(double a) { return a <= 0 && a == floor(a); }\n",
     {-1})
TEXT("wgi_gamma_cot_pi",
     "static double wgi_gamma_cot_pi(double a) {\n"
     "    double r = remainder(a, 1.0);\n"
     "    return fabs(r) <= 0.25 ? 1 / tan(3.14159265358979323846 * r) : tan(3.14159265358979323846 * (copysign(0.5, r) - r));\n"
     "}\n",
     {-1})
TEXT("wgi_gamma_digamma_positive",
     "static double wgi_gamma_digamma_positive(double x) {\n"
     "    double s = 0;\n"
     "    if (x >= 10) {\n"
     "        double r = 1 / x;\n"
     "        return log(x) - 0.5 * r - r * r * wgi_poly_HORNER(wgi_gamma_PSI0, r * r);\n"
     "    }\n"
     "    if (x < 1) {\n"
     "        s = -1 / x;\n"
     "        x += 1;\n"
     "    }\n"
     "    for (; x > 2; x -= 1) s += 1 / (x - 1);\n"
     "    return s + ((x - 1.4616321449683622) - 9.5499954299656977e-17) * wgi_poly_HORNER(wgi_gamma_DIGAMMA, 2 * (x - 1.5));\n"
     "}\n",
     {19, 99, 98, -1})
TEXT("wgi_digamma",
     "static double wgi_digamma(double a) {\n"
     "    if (wgi_gamma_is_pole(a) || a != a) return NAN;\n"
     "    return a > 0 ? wgi_gamma_digamma_positive(a) : wgi_gamma_digamma_positive(1 - a) - 3.14159265358979323846 * wgi_gamma_cot_pi(a);\n"
     "}\n",
     {102, 104, 103, -1})
TEXT("wgi_gamma_trigamma_positive",
     "static double wgi_gamma_trigamma_positive(double x) {\n"
     "    double s = 0;\n"
     "    for (; x < 10; x += 1) s += 1 / x / x;\n"
     "    double r = 1 / x;\n"
     "    return s + (r + r * r * (0.5 + r * wgi_poly_HORNER(wgi_gamma_PSI1, r * r)));\n"
     "}\n",
     {19, 100, -1})
TEXT("wgi_trigamma",
     "static double wgi_trigamma(double a) {\n"
     "    if (wgi_gamma_is_pole(a) || a != a) return NAN;\n"
     "    if (a > 0) return wgi_gamma_trigamma_positive(a);\n"
     "    double p = 3.14159265358979323846 / wgi_sinpi(a);\n"
     "    return p * p - wgi_gamma_trigamma_positive(1 - a);\n"
     "}\n",
     {102, 106, 65, -1})
TEXT("wgi_gamma_tetragamma_positive",
     "static double wgi_gamma_tetragamma_positive(double x) {\n"
     "    double s = 0;\n"
     "    for (; x < 10; x += 1) s += 2 / x / x / x;\n"
     "    double r = 1 / x;\n"
     "    return -(s + r * r * (1 + r * (1 + r * wgi_poly_HORNER(wgi_gamma_PSI2, r * r))));\n"
     "}\n",
     {19, 101, -1})
TEXT("wgi_tetragamma",
     "static double wgi_tetragamma(double a) {\n"
     "    if (wgi_gamma_is_pole(a) || a != a) return NAN;\n"
     "    if (a > 0) return wgi_gamma_tetragamma_positive(a);\n"
     "    double p = 3.14159265358979323846 / wgi_sinpi(a);\n"
     "    return wgi_gamma_tetragamma_positive(1 - a) - 2 * 3.14159265358979323846 * wgi_gamma_cot_pi(a) * p * p;\n"
     "}\n",
     {102, 108, 65, 103, -1})
TEXT("wgi_gamma_tgamma_times",
     "static double wgi_gamma_tgamma_times(double a, double v, double t) {\n"
     "    if (fabs(v) >= 2.2250738585072014e-308 || !(a < -100)) return v * t;\n"
     "    double p = 1;\n"
     "    for (int i = 0; i < 8; i++) p *= a + i;\n"
     "    return tgamma(a + 8) * t / p;\n"
     "}\n",
     {-1})
TEXT("wgi_tgamma_d",
     "static double wgi_tgamma_d(double a, double v) { return wgi_gamma_tgamma_times(a, v, wgi_digamma(a)); }\n",
     {110, 105, -1})
TEXT("wgi_tgamma_dd",
     "static double wgi_tgamma_dd(double a, double v) {\n"
     "    double p = wgi_digamma(a);\n"
     "    return wgi_gamma_tgamma_times(a, v, p * p + wgi_trigamma(a));\n"
     "}\n",
     {105, 110, 107, -1})
TEXT("wgi_bessel_bessel_series",
     "static double wgi_bessel_bessel_series(int n, double a) {\n"
     "    double h = 0.5 * a, t = 1, s = 0;\n"
     "    for (int i = 1; i <= n; i++) t *= h / i;\n"
     "    for (int k = 1; k < 20; k++) {\n"
     "        s += t;\n"
     "        t *= -h * h / (k * (double)(k + n));\n"
     "    }\n"
     "    return s;\n"
     "}\n",
     {-1})
TEXT("wgi_bessel_zero",
     "struct wgi_bessel_zero {\n"
     "    double hi, lo, slope;\n"
     "};\n",
     {-1})
TEXT("wgi_bessel_J0_ZEROS",
     "static const struct wgi_bessel_zero wgi_bessel_J0_ZEROS[] = {\n"
     "    {2.404825557695773, -1.17669165153089412e-16, -0.5191474972894667881},\n"
     "    {5.520078110286311, 8.08859714614672231e-17, 0.3402648065583681486},\n"
     "    {8.653727912911013, -2.92812607320778988e-16, -0.2714522999283819204},\n"
     "    {11.791534439014281, 2.8129569127787348e-16, 0.2324598313647247789},\n"
     "    {14.930917708487787, -7.0705145059830735e-16, -0.2065464330779960268},\n"
     "    {18.071063967910924, -9.65804808942620821e-16, 0.1877288030404394321},\n"
     "    {21.21163662987926, 4.94707742878406856e-16, -0.1732658942292298697},\n"
     "    {24.352471530749302, 9.16906713395106576e-16, 0.1617015506892500045},\n"
     "};\n",
     {114, -1})
TEXT("wgi_bessel_J1_ZEROS",
     "static const struct wgi_bessel_zero wgi_bessel_J1_ZEROS[] = {\n"
     "    {3.8317059702075125, -1.52691840900880675e-16, -0.4027593957025529721},\n"
     "    {7.015586669815619, -9.4141656534103891e-17, 0.3001157525261325632},\n"
     "    {10.173468135062722, 4.48216227476888872e-16, -0.2497048770578431977},\n"
     "    {13.323691936314223, 2.60040806471881327e-16, 0.2183594072478729621},\n"
     "    {16.470630050877634, -1.6190195447981281e-15, -0.1964653714686571829},\n"
     "    {19.615858510468243, -1.00444563452661598e-15, 0.1800633753443155542},\n"
     "    {22.760084380592772, -4.9257493736149224e-16, -0.1671846004738180455},\n"
     "    {25.903672087618382, 4.89453072641982477e-16, 0.1567249862528522302},\n"
     "};\n",
     {114, -1})
TEXT("wgi_bessel_Y0_ZEROS",
     "static const struct wgi_bessel_zero wgi_bessel_Y0_ZEROS[] = {\n"
     "    {0.8935769662791675, 2.65962315397203846e-17, 0.8794208024971947711},\n"
     "    {3.957678419314858, -1.07643406975627058e-16, -0.4025426717750242357},\n"
     "    {7.086051060301773, -8.83528572308540811e-17, 0.3000976149104751862},\n"
     "    {10.222345043496418, -7.96739505030880894e-16, -0.2497012375146847796},\n"
     "    {13.361097473872764, -6.62610949371252912e-16, 0.2183582965976713382},\n"
     "    {16.50092244152809, 1.01874642124457544e-15, -0.1964649378950167707},\n"
     "    {19.64130970088794, -1.37380852451741762e-15, 0.1800631763375441876},\n"
     "    {22.782028047291558, 1.59059277586812487e-15, -0.1671844980510107312},\n"
     "};\n",
     {114, -1})
TEXT("wgi_bessel_Y1_ZEROS",
     "static const struct wgi_bessel_zero wgi_bessel_Y1_ZEROS[] = {\n"
     "    {2.197141326031017, -4.82598358764549658e-17, 0.5207864124022675111},\n"
     "    {5.429681040794135, 4.16251402667037697e-16, -0.3403180455234405582},\n"
     "    {8.596005868331169, 2.84158383400636661e-16, 0.271459877311533545},\n"
     "    {11.749154830839881, 2.94663816684091867e-17, -0.2324617660170387411},\n"
     "    {14.897442128336726, -6.07214899550680862e-16, 0.2065471103565925999},\n"
     "    {18.043402276727857, -1.44998892131489652e-15, -0.187729091914909699},\n"
     "    {21.188068934142212, 1.08630388643173221e-15, 0.1732660352691198653},\n"
     "    {24.33194257135691, 2.94006393428299119e-16, -0.1617016266586240935},\n"
     "};\n",
     {114, -1})
TEXT("wgi_bessel_near_zero",
     "static double wgi_bessel_near_zero(const struct wgi_bessel_zero *z, size_t count, int n, double a, double f) {\n"
     "    double x = fabs(a), i = rint((x - z->hi) / 3.14159265358979323846);\n"
     "    if (!(i >= 0 && i < (double)count)) return f;\n"
     "    z += (size_t)i;\n"
     "    double h = (x - z->hi) - z->lo, t = z->hi, p = h, s = 0;\n"
     "    if (fabs(h) > 0.0625) return f;\n"
     "    double c[16] = {0, 0, 0, z->slope};\n"
     "    for (int k = 0; k < 12; k++) {\n"
     "        double *q = c + k + 2;\n"
     "        q[2] = -(t * (k + 1) * (2 * k + 1) * q[1] + (k * k + t * t - n * n) * q[0] +\n"
     "                 2 * t * q[-1] + q[-2]) /\n"
     "               (t * t * (k + 2) * (k + 1));\n"
     "        s += q[1] * p;\n"
     "        p *= h;\n"
     "    }\n"
     "    return a < 0 && n == 1 ? -s : s;\n"
     "}\n",
     {114, -1})
TEXT("wgi_bessel_NEAR_ZERO",
     "#define wgi_bessel_NEAR_ZERO(table, n, a, f) wgi_bessel_near_zero(table, sizeof(table) / sizeof(table)[0], n, a, f)\n",
     {119, -1})
TEXT("wgi_j0",
     "static double wgi_j0(double a) { return wgi_bessel_NEAR_ZERO(wgi_bessel_J0_ZEROS, 0, a, j0(a)); }\n",
     {120, 115, -1})
TEXT("wgi_j1",
     "static double wgi_j1(double a) { return wgi_bessel_NEAR_ZERO(wgi_bessel_J1_ZEROS, 1, a, j1(a)); }\n",
     {120, 116, -1})
TEXT("wgi_j0_dd",
     "static double wgi_j0_dd(double a, double v) {\n"
     "    return fabs(a) < 2 ? 0.5 * (wgi_bessel_bessel_series(2, a) - v) : wgi_j1(a) / a - v;\n"
     "}\n",
     {113, 122, -1})
TEXT("wgi_j1_d",
     "static double wgi_j1_d(double a, double v) {\n"
     "    return fabs(a) < 2 ? 0.5 * (wgi_j0(a) - wgi_bessel_bessel_series(2, a)) : wgi_j0(a) - v / a;\n"
     "}\n",
     {121, 113, -1})
TEXT("wgi_j1_dd",
     "static double wgi_j1_dd(double a, double v) {\n"
     "    if (fabs(a) < 2) return 0.25 * (wgi_bessel_bessel_series(3, a) - 3 * v);\n"
     "    return (2 / a / a - 1) * v - wgi_j0(a) / a;\n"
     "}\n",
     {113, 121, -1})
TEXT("wgi_y0",
     "static double wgi_y0(double a) { return a < 0 ? NAN : wgi_bessel_NEAR_ZERO(wgi_bessel_Y0_ZEROS, 0, a, y0(a)); }\n",
     {120, 117, -1})
TEXT("wgi_y1",
     "static double wgi_y1(double a) { return a < 0 ? NAN : wgi_bessel_NEAR_ZERO(wgi_bessel_Y1_ZEROS, 1, a, y1(a)); }\n",
     {120, 118, -1})
TEXT("wgi_y0_dd",
     "static double wgi_y0_dd(double a, double v) { return wgi_y1(a) / a - v; }\n",
     {127, -1})
TEXT("wgi_y1_d",
     "static double wgi_y1_d(double a, double v) { return wgi_y0(a) - v / a; }\n",
     {126, -1})
TEXT("wgi_y1_dd",
     "static double wgi_y1_dd(double a, double v) { return (2 / a / a - 1) * v - wgi_y0(a) / a; }\n",
     {126, -1})
TEXT("wgi_lambert_lambert_near",
     "static double wgi_lambert_lambert_near(double s, double sign) {\n"
     "    if (s <= 0) return s > -4 * 2.220446049250313e-16 ? 0.0 : NAN;\n"
     "    double p = sign * sqrt(2 * s), u = p * (1 - p / 3);\n"
     "    for (int i = 0; i < 6; i++) {\n"
     "        double t = u, g = 0;\n"
     "        for (int k = 2; k < 24; k++) {\n"
     "            t *= u / k;\n"
     "            g += t * (k - 1);\n"
     "        }\n"
     "        u -= (g - s) / (u * exp(u));\n"
     "    }\n"
     "    return u;\n"
     "}\n",
     {-1})
TEXT("wgi_lambert_lambert",
     "static double wgi_lambert_lambert(double a, int lower, double *u) {\n"
     "    double w, l = log(fabs(a));\n"
     "    if (a < -0.25 && !(lower && a > -0.27)) {\n"
     "        *u = wgi_lambert_lambert_near(fma(a, 2.71828182845904523536, 1.0) + a * 1.44564689172925013472e-16, lower ? -1.0 : 1.0);\n"
     "        return *u - 1;\n"
     "    }\n"
     "    if (lower) {\n"
     "        if (!(a < 0)) {\n"
     "            *u = a == 0 ? -INFINITY : NAN;\n"
     "            return *u;\n"
     "        }\n"
     "        w = l - log(-l);\n"
     "    } else if (a < 3) {\n"
     "        w = a / (1 + a - 0.5 * a * (a > 0 ? a / (1 + a) : a));\n"
     "        for (int i = 0; i < 6 && a != 0; i++) {\n"
     "            double e = exp(w), f = w * e - a;\n"
     "            w -= f / (e * (w + 1) - 0.5 * (w + 2) * f / (w + 1));\n"
     "        }\n"
     "        *u = 1 + w;\n"
     "        return w;\n"
     "    } else {\n"
     "        w = l - log(l);\n"
     "    }\n"
     "    if (a > 1.7976931348623157e308 || a != a) w = a;\n"
     "    else\n"
     "        for (int i = 0; i < 6; i++) w *= (1 + (l - log(fabs(w)))) / (1 + w);\n"
     "    *u = 1 + w;\n"
     "    return w;\n"
     "}\n",
     {131, -1})
TEXT("wgi_lambertw0",
     "static double wgi_lambertw0(double a) {\n"
     "    double u;\n"
     "    return wgi_lambert_lambert(a, 0, &u);\n"
     "}\n",
     {132, -1})
TEXT("wgi_lambertwm1",
     "static double wgi_lambertwm1(double a) {\n"
     "    double u;\n"
     "    return wgi_lambert_lambert(a, 1, &u);\n"
     "}\n",
     {132, -1})
TEXT("wgi_lambert_lambert_d",
     "static double wgi_lambert_lambert_d(double a, int lower) {\n"
     "    double u, w = wgi_lambert_lambert(a, lower, &u);\n"
     "    if (fabs(w) > 1.7976931348623157e308) return lower ? -INFINITY : 0.0;\n"
     "    return a == 0 ? 1.0 : w / a / u;\n"
     "}\n",
     {132, -1})
TEXT("wgi_lambert_lambert_dd",
     "static double wgi_lambert_lambert_dd(double a, int lower) {\n"
     "    double u, d = wgi_lambert_lambert_d(a, lower);\n"
     "    (void)wgi_lambert_lambert(a, lower, &u);\n"
     "    return fabs(u) > 1.7976931348623157e308 ? (lower ? -INFINITY : 0.0) : -d * d * (u + 1) / u;\n"
     "}\n",
     {135, 132, -1})
TEXT("wgi_lambertw0_d",
     "static double wgi_lambertw0_d(double a) { return wgi_lambert_lambert_d(a, 0); }\n",
     {135, -1})
TEXT("wgi_lambertw0_dd",
     "static double wgi_lambertw0_dd(double a) { return wgi_lambert_lambert_dd(a, 0); }\n",
     {136, -1})
TEXT("wgi_lambertwm1_d",
     "static double wgi_lambertwm1_d(double a) { return wgi_lambert_lambert_d(a, 1); }\n",
     {135, -1})
TEXT("wgi_lambertwm1_dd",
     "static double wgi_lambertwm1_dd(double a) { return wgi_lambert_lambert_dd(a, 1); }\n",
     {136, -1})
TEXT("wgi_array_op",
     "static typedef struct wgi_array_op {\n"
     "    const char *name, *call;\n"
     "    enum wgi_array_near near;\n"
     "    int indexed;\n"
     "    double (*value)(size_t n, const double *x, const double *number);\n"
     "    void (*first)(size_t n, const double *x, const double *number, double v, double *d);\n"
     "    void (*second)(size_t n, const double *x, const double *number, double v, const double *xt,\n"
     "                   double *ht, double *work);\n"
     "}\n",
     {-1})
TEXT("wgi_array_index",
     "static inline size_t wgi_array_index(size_t n, double index) {\n"
     "    return index >= 0 && index < (double)n ? (size_t)index : n;\n"
     "}\n",
     {-1})
TEXT("wgi_array_nothing",
     "static double wgi_array_nothing(size_t n) { return n != 0 ? -0.0 : 0.0; }\n",
     {-1})
TEXT("wgi_array_squared_norm_value",
     "static double wgi_array_squared_norm_value(size_t n, const double *x, const double *number) {\n"
     "    (void)number;\n"
     "    double s = wgi_array_nothing(n);\n"
     "    for (size_t i = 0; i < n; i++) s += x[i] * x[i];\n"
     "    return s;\n"
     "}\n",
     {143, -1})
TEXT("wgi_array_largest",
     "static double wgi_array_largest(size_t n, const double *x) {\n"
     "    double m = 0;\n"
     "    for (size_t i = 0; i < n; i++)\n"
     "        if (!(fabs(x[i]) <= m)) {\n"
     "            m = fabs(x[i]);\n"
     "            if (m != m) return m;\n"
     "        }\n"
     "    return m;\n"
     "}\n",
     {-1})
TEXT("wgi_array_scaled_norm",
     "static double wgi_array_scaled_norm(size_t n, const double *x, const double *number, double m, int *e) {\n"
     "    (void)number;\n"
     "    *e = 0;\n"
     "    if (m > 1e-140 && m < 1e140) return sqrt(wgi_array_squared_norm_value(n, x, number));\n"
     "    (void)frexp(m, e);\n"
     "    double s = 0;\n"
     "    for (size_t i = 0; i < n; i++) {\n"
     "        const double y = ldexp(x[i], -*e);\n"
     "        s += y * y;\n"
     "    }\n"
     "    return sqrt(s);\n"
     "}\n",
     {144, -1})
TEXT("wgi_array_norm2_value",
     "static double wgi_array_norm2_value(size_t n, const double *x, const double *number) {\n"
     "    const double m = wgi_array_largest(n, x);\n"
     "    int e = 0;\n"
     "    if (m == 0 || !isfinite(m)) return m;\n"
     "    const double r = wgi_array_scaled_norm(n, x, number, m, &e);\n"
     "    return ldexp(r, e);\n"
     "}\n",
     {145, 146, -1})
TEXT("wgi_array_top",
     "static double wgi_array_top(size_t n, const double *x) {\n"
     "    double m = -INFINITY;\n"
     "    for (size_t i = 0; i < n; i++) {\n"
     "        if (x[i] != x[i]) return x[i];\n"
     "        if (x[i] > m) m = x[i];\n"
     "    }\n"
     "    return m;\n"
     "}\n",
     {-1})
TEXT("wgi_array_logsumexp_value",
     "static double wgi_array_logsumexp_value(size_t n, const double *x, const double *number) {\n"
     "    (void)number;\n"
     "    const double m = wgi_array_top(n, x);\n"
     "    if (!isfinite(m)) return m;\n"
     "    double rest = 0;\n"
     "    int seen = 0;\n"
     "    for (size_t i = 0; i < n; i++) {\n"
     "        if (x[i] == m && !seen) seen = 1;\n"
     "        else rest += exp(x[i] - m);\n"
     "    }\n"
     "    return m + log1p(rest);\n"
     "}\n",
     {148, -1})
TEXT("wgi_array_maximum_value",
     "static double wgi_array_maximum_value(size_t n, const double *x, const double *number) {\n"
     "    (void)number;\n"
     "    return wgi_array_top(n, x);\n"
     "}\n",
     {148, -1})
TEXT("wgi_array_minimum_value",
     "static double wgi_array_minimum_value(size_t n, const double *x, const double *number) {\n"
     "    (void)number;\n"
     "    double m = INFINITY;\n"
     "    for (size_t i = 0; i < n; i++) {\n"
     "        if (x[i] != x[i]) return x[i];\n"
     "        if (x[i] < m) m = x[i];\n"
     "    }\n"
     "    return m;\n"
     "}\n",
     {-1})
TEXT("wgi_array_lookup_value",
     "static double wgi_array_lookup_value(size_t n, const double *x, const double *number) {\n"
     "    (void)number;\n"
     "    const size_t k = wgi_array_index(n - 1, x[n - 1]);\n"
     "    return k < n - 1 ? x[k] : NAN;\n"
     "}\n",
     {142, -1})
#endif
#ifdef VECTOR_TEXT
static const char *const VECTOR_TEXT[] = {
    "#if defined(__x86_64__) && defined(__GLIBC__)\n",
    "#if __GLIBC_PREREQ(2, 35)\n",
    "#define HAVE_MVEC 1\n",
    "#endif\n",
    "#endif\n",
    "#if defined(__has_builtin)\n",
    "#define HAS(f) __has_builtin(f)\n",
    "#else\n",
    "#define HAS(f) __x86_64__\n",
    "#endif\n",
    "#define INNER static inline __attribute__((always_inline, unused))\n",
    "typedef double V __attribute__((vector_size(8 * WIDTH)));\n",
    "typedef int64_t M __attribute__((vector_size(8 * WIDTH)));\n",
    "typedef long long L __attribute__((vector_size(8 * WIDTH)));\n",
    "enum { UNORDERED = 3, ALL = 255, CURRENT = 4 };\n",
    "#define ZERO ((V){0})\n",
    "#define ONE (1.0 - ZERO)\n",
    "INNER V splat(double c) { return c - ZERO; }\n",
    "#if WIDTH == 8\n",
    "INNER V twice(const double *p) {\n",
    "#if HAS(__builtin_ia32_broadcastf64x4_512)\n",
    "    typedef double H __attribute__((vector_size(4 * sizeof(double))));\n",
    "    H half;\n",
    "    memcpy(&half, p, sizeof half);\n",
    "    return __builtin_ia32_broadcastf64x4_512(half, ZERO, (unsigned char)ALL);\n",
    "#else\n",
    "    return (V){p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3]};\n",
    "#endif\n",
    "}\n",
    "#endif\n",
    "INNER V load_some(const double *p, size_t r) {\n",
    "#if WIDTH >= 4\n",
    "    const double second = p[r > 1 ? 1 : 0], third = p[r > 2 ? 2 : 0];\n",
    "#endif\n",
    "#if WIDTH == 8\n",
    "    if (r == 4) return twice(p);\n",
    "    return (V){p[0], second, third, second, p[0], second, third, second};\n",
    "#elif WIDTH == 4\n",
    "    return (V){p[0], second, third, second};\n",
    "#else\n",
    "    (void)r;\n",
    "    return splat(p[0]);\n",
    "#endif\n",
    "}\n",
    "INNER void store_some(double *p, size_t r, V v) {\n",
    "#if WIDTH == 8\n",
    "    if (r == 4) {\n",
    "        memcpy(p, &v, 4 * sizeof *p);\n",
    "        return;\n",
    "    }\n",
    "#endif\n",
    "    p[0] = v[0];\n",
    "    if (r > 1) p[1] = v[1 % WIDTH];\n",
    "    if (r > 2) p[2] = v[2 % WIDTH];\n",
    "}\n",
    "INNER V get(const double *p, size_t r) {\n",
    "    V v;\n",
    "    if (r < WIDTH) return load_some(p, r);\n",
    "    memcpy(&v, p, sizeof v);\n",
    "    return v;\n",
    "}\n",
    "INNER void put(double *p, size_t r, V v) {\n",
    "    if (r < WIDTH) store_some(p, r, v);\n",
    "    else memcpy(p, &v, sizeof v);\n",
    "}\n",
    "#define EACH(...)                                                                              \\\n"
     "    do {                                                                                       \\\n"
     "        size_t i = 0;                                                                          \\\n"
     "        for (; i + WIDTH <= n; i += WIDTH) {                                                   \\\n"
     "            const size_t r = WIDTH;                                                            \\\n"
     "            __VA_ARGS__                                                                        \\\n"
     "        }                                                                                      \\\n"
     "        if (WIDTH == 8 && i + 4 <= n) {                                                        \\\n"
     "            const size_t r = 4;                                                                \\\n"
     "            __VA_ARGS__                                                                        \\\n"
     "            i += 4;                                                                            \\\n"
     "        }                                                                                      \\\n"
     "        if (i < n) {                                                                           \\\n"
     "            const size_t r = n - i < 3 ? n - i : 3;                                            \\\n"
     "            __VA_ARGS__                                                                        \\\n"
     "        }                                                                                      \\\n"
     "    } while (0)\n",
    "INNER V v_if(M m, V x, V y) { return (V)((m & (M)x) | (~m & (M)y)); }\n",
    "INNER V v_half(M m) { return (V)(m & (M)splat(0.5)); }\n",
    "INNER unsigned lanes(M m) {\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_cvtq2mask512)\n",
    "    return (unsigned char)__builtin_ia32_cvtq2mask512((L)m);\n",
    "#elif WIDTH == 4 && HAS(__builtin_ia32_movmskpd256)\n",
    "    return (unsigned)__builtin_ia32_movmskpd256((V)m);\n",
    "#elif WIDTH == 2 && HAS(__builtin_ia32_movmskpd)\n",
    "    return (unsigned)__builtin_ia32_movmskpd((V)m);\n",
    "#else\n",
    "    unsigned bits = 0;\n",
    "    for (int l = 0; l < WIDTH; l++) bits |= (unsigned)(m[l] != 0) << l;\n",
    "    return bits;\n",
    "#endif\n",
    "}\n",
    "INNER int any(M m) { return lanes(m) != 0; }\n",
    "INNER int every(M m) { return lanes(m) == (1u << WIDTH) - 1; }\n",
    "INNER M unordered(V a, V b) {\n",
    "#if WIDTH == 4 && HAS(__builtin_ia32_cmppd256)\n",
    "    return (M)__builtin_ia32_cmppd256(a, b, UNORDERED);\n",
    "#else\n",
    "    return (a != a) | (b != b);\n",
    "#endif\n",
    "}\n",
    "INNER unsigned unordered_lanes(V a, V b) {\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_cmppd512_mask)\n",
    "    const unsigned char all = ALL;\n",
    "    return (unsigned char)__builtin_ia32_cmppd512_mask(a, b, UNORDERED, all, CURRENT);\n",
    "#else\n",
    "    return lanes(unordered(a, b));\n",
    "#endif\n",
    "}\n",
    "INNER int any_nan(V v) {\n",
    "#if WIDTH == 8\n",
    "    return unordered_lanes(v, v) != 0;\n",
    "#else\n",
    "    return any(v != v);\n",
    "#endif\n",
    "}\n",
    "INNER V add_lanes(V a, unsigned these, V b) {\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_addpd512_mask)\n",
    "    return __builtin_ia32_addpd512_mask(a, b, a, (unsigned char)these, CURRENT);\n",
    "#elif WIDTH == 8 && HAS(__builtin_ia32_selectpd_512)\n",
    "    return __builtin_ia32_selectpd_512((unsigned char)these, a + b, a);\n",
    "#else\n",
    "    for (int l = 0; l < WIDTH; l++)\n",
    "        if (these >> l & 1) a[l] += b[l];\n",
    "    return a;\n",
    "#endif\n",
    "}\n",
    "INNER V v_times(V w, V d) {\n",
    "    V p = w * d;\n",
    "    if (WGI_UNLIKELY(any_nan(p))) p = v_if((p != p) & ((w == 0) | (d == 0)), ZERO, p);\n",
    "    return p;\n",
    "}\n",
    "#define WGI_ONE(text) ((text)[0] == '1' && (text)[1] == 0)\n",
    "#define CHAIN(w, d) (WGI_ONE(#d) ? (w) : v_times(w, (d)-ZERO))\n",
    "#define LANES1(f, a)                                                                           \\\n"
     "    V y;                                                                                       \\\n"
     "    for (int l = 0; l < WIDTH; l++) y[l] = f((a)[l]);                                          \\\n"
     "    return y\n",
    "#define LANES2(f, a, b)                                                                        \\\n"
     "    V y;                                                                                       \\\n"
     "    for (int l = 0; l < WIDTH; l++) y[l] = f((a)[l], (b)[l]);                                  \\\n"
     "    return y\n",
    "#if defined(HAVE_MVEC)\n",
    "#define LIBM1(f) extern V v_##f(V a) __asm__(MVEC \"v_\" #f) __attribute__((const));\n",
    "#define LIBM2(f) extern V v_##f(V a, V b) __asm__(MVEC \"vv_\" #f) __attribute__((const));\n",
    "#else\n",
    "#define LIBM1(f)                                                                               \\\n"
     "    INNER V v_##f(V a) { LANES1(f, a); }\n",
    "#define LIBM2(f)                                                                               \\\n"
     "    INNER V v_##f(V a, V b) { LANES2(f, a, b); }\n",
    "#define exp10(a) pow(10.0, a)\n",
    "#endif\n",
    "LIBM1(cbrt)\n",
    "LIBM1(exp)\n",
    "LIBM1(exp2)\n",
    "LIBM1(exp10)\n",
    "LIBM1(expm1) LIBM1(log) LIBM1(log2) LIBM1(log10) LIBM1(log1p) LIBM1(sin) LIBM1(cos) LIBM1(tan)\n",
    "    LIBM1(asin) LIBM1(acos) LIBM1(atan) LIBM1(sinh) LIBM1(cosh) LIBM1(asinh) LIBM1(acosh)\n",
    "        LIBM1(atanh) LIBM1(erf) LIBM1(erfc) LIBM2(pow) LIBM2(hypot) LIBM2(atan2)\n",
    "#pragma GCC diagnostic push\n",
    "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n",
    "            INNER V v_sqrt(V a) {\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_sqrtpd512_mask)\n",
    "    return __builtin_ia32_sqrtpd512_mask(a, a, (unsigned char)ALL, CURRENT);\n",
    "#elif WIDTH == 8 && HAS(__builtin_ia32_sqrtpd512)\n",
    "    return __builtin_ia32_sqrtpd512(a, CURRENT);\n",
    "#elif WIDTH == 4 && HAS(__builtin_ia32_sqrtpd256)\n",
    "    return __builtin_ia32_sqrtpd256(a);\n",
    "#elif WIDTH == 2 && HAS(__builtin_ia32_sqrtpd)\n",
    "    return __builtin_ia32_sqrtpd(a);\n",
    "#else\n",
    "    LANES1(sqrt, a);\n",
    "#endif\n",
    "}\n",
    "INNER V v_fma(V a, V b, V c) {\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_vfmaddpd512_mask)\n",
    "    return __builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)ALL, CURRENT);\n",
    "#elif WIDTH == 4 && HAS(__builtin_ia32_vfmaddpd256)\n",
    "    return __builtin_ia32_vfmaddpd256(a, b, c);\n",
    "#else\n",
    "    V y;\n",
    "    for (int l = 0; l < WIDTH; l++) y[l] = fma(a[l], b[l], c[l]);\n",
    "    return y;\n",
    "#endif\n",
    "}\n",
    "#if WIDTH == 8 && HAS(__builtin_ia32_rndscalepd_mask)\n",
    "#define ROUND(f, a, how)                                                                       \\\n"
     "    return __builtin_ia32_rndscalepd_mask(a, how, a, (unsigned char)ALL, CURRENT)\n",
    "#elif WIDTH == 4 && HAS(__builtin_ia32_roundpd256)\n",
    "#define ROUND(f, a, how) return __builtin_ia32_roundpd256(a, how)\n",
    "#else\n",
    "#define ROUND(f, a, how) LANES1(f, a)\n",
    "#endif\n",
    "INNER V v_floor(V a) { ROUND(floor, a, 9); }\n",
    "INNER V v_ceil(V a) { ROUND(ceil, a, 10); }\n",
    "INNER V v_trunc(V a) { ROUND(trunc, a, 11); }\n",
    "INNER V v_rint(V a) { ROUND(rint, a, 12); }\n",
    "#pragma GCC diagnostic pop\n",
    "#define SIGNS ((M)splat(-0.0))\n",
    "INNER V v_abs(V a) { return (V)((M)a & ~SIGNS); }\n",
    "INNER V v_copysign(V a, V b) { return (V)(((M)a & ~SIGNS) | ((M)b & SIGNS)); }\n",
    "INNER M v_signbit(V a) { return (M)a < 0; }\n",
    "INNER V v_sign(V a) { return v_if(a > 0, ONE, v_if(a < 0, -ONE, a)); }\n",
    "typedef double scalar3(double a, double b, double v);\n",
    "static __attribute__((noinline, cold)) V rare(scalar3 *f, M usual, V r, V a, V b, V v) {\n",
    "    for (int l = 0; l < WIDTH; l++)\n",
    "        if (usual[l] == 0) r[l] = f(a[l], b[l], v[l]);\n",
    "    return r;\n",
    "}\n",
    "#define UNLESS(usual, r, f, a, b, v)                                                           \\\n"
     "    (WGI_LIKELY(every(usual)) ? (r) : rare(f, usual, r, a, b, v))\n",
    "INNER M moderate(V a) { return (v_abs(a) > 1e-290) & (v_abs(a) < 1e290); }\n",
    "INNER V v_pow_da(V a, V b, V v) {\n",
    "    const V q = v / a, r = v_if(b == 1, ONE, v_if(b == 2, 2 * a, b * q));\n",
    "    const M usual = (b == 1) | (b == 2) | (moderate(v) & moderate(q) & moderate(r));\n",
    "    return UNLESS(usual, r, wgi_pow_da, a, b, v);\n",
    "}\n",
    "INNER V v_pow_db(V a, V b, V v) {\n",
    "    const V r = v * v_log(a);\n",
    "    const M usual = (a > 0) & moderate(v);\n",
    "    return UNLESS(usual, r, wgi_pow_db, a, b, v);\n",
    "}\n",
    "INNER V v_hypot_da(V a, V b, V v) {\n",
    "    const V r = a / v;\n",
    "    const M usual = (v > 0) & (v < INFINITY);\n",
    "    return UNLESS(usual, r, wgi_hypot_da, a, b, v);\n",
    "}\n",
    "static double atan2_da(double a, double b, double v) {\n",
    "    (void)v;\n",
    "    return wgi_atan2_da(a, b);\n",
    "}\n",
    "INNER V v_atan2_da(V a, V b) {\n",
    "    const V s = a * a + b * b, r = b / s;\n",
    "    const M usual = (s > 1e-280) & (s < 1e280);\n",
    "    return UNLESS(usual, r, atan2_da, a, b, s);\n",
    "}\n",
    "static double exp2_d(double a, double b, double v) {\n",
    "    (void)b;\n",
    "    return wgi_exp2_times(a, v, 0.693147180559945309417);\n",
    "}\n",
    "INNER V v_exp2_d(V a, V v) {\n",
    "    const V r = v * 0.693147180559945309417;\n",
    "    const M usual = v < INFINITY;\n",
    "    return UNLESS(usual, r, exp2_d, a, a, v);\n",
    "}\n",
    "static double exp_msq(double a, double b, double v) {\n",
    "    (void)b, (void)v;\n",
    "    return wgi_exp_msq(a);\n",
    "}\n",
    "INNER V v_exp_msq(V a) {\n",
    "    const V s = a * a;\n",
    "#if WIDTH >= 4\n",
    "    const V e = v_fma(a, a, -s);\n",
    "#else\n",
    "    const V h = (V)((M)a & (M){-134217728, -134217728}), l = a - h;\n",
    "    const V e = (h * h - s + 2 * h * l) + l * l;\n",
    "#endif\n",
    "    const V r = v_exp(-s) * (1 - e);\n",
    "    const M usual = s < 700;\n",
    "    return UNLESS(usual, r, exp_msq, a, a, a);\n",
    "}\n",
    "INNER V v_sigmoid(V a, V *s) {\n",
    "    const V e = v_exp(-v_abs(a)), v = v_if(a < 0, e, ONE) / (1 + e);\n",
    "    *s = v_if(a < 0, v * (1 - v), e * v * v);\n",
    "    return v;\n",
    "}\n",
    "INNER V v_softplus(V a, V *s) {\n",
    "    const V e = v_exp(-v_abs(a));\n",
    "    *s = v_if(a < 0, e, ONE) / (1 + e);\n",
    "    return v_if(a > 0, a, ZERO) + v_log1p(e);\n",
    "}\n",
    "INNER V v_log_sigmoid(V a, V *s) {\n",
    "    const V v = v_softplus(-a, s);\n",
    "    return -v;\n",
    "}\n",
    "INNER V v_tanh(V a, V *s) {\n",
    "    const M small = v_abs(a) < 0.5;\n",
    "    const V e = v_exp(-2 * v_abs(a)), q = a * a;\n",
    "    const V num = q * (45045 + q * (2772 + q * 27));\n",
    "    const V den = 135135 + q * (62370 + q * (3150 + q * 28));\n",
    "    const V t = v_if(small, num, 2 * e) / v_if(small, den, 1 + e);\n",
    "    const V v = v_copysign(v_if(small, a - a * t, 1 - t), a);\n",
    "    *s = v_if(small, (1 - v) * (1 + v), t * (2 - t));\n",
    "    return v;\n",
    "}\n",
};
#endif
