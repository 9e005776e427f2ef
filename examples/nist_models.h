/* SPDX-License-Identifier: MIT */
/* The regression models of the NIST StRD problems, as callbacks for the drivers of Wengert. */
#ifndef NIST_MODELS_H
#define NIST_MODELS_H

#include <wengert.h>

/* Each gives the residuals r[i] = model(b, x_i) - y_i of the `const struct nist_problem` that
 * `data` points to.  Shapes: b of its parameters, r of its observations.
 * Errors: WG_ESHAPE. */
wg_callback nist_misra1a;  /* b1 (1 - exp(-b2 x)); also BoxBOD */
wg_callback nist_misra1b;  /* b1 (1 - (1 + b2 x / 2)^-2) */
wg_callback nist_chwirut2; /* exp(-b1 x) / (b2 + b3 x) */
wg_callback nist_lanczos3; /* three exponentials */
wg_callback nist_gauss1;   /* an exponential and two Gaussian peaks */
wg_callback nist_danwood;  /* b1 x^b2 */
wg_callback nist_hahn1;    /* cubic over cubic; also Thurber */
wg_callback nist_kirby2;   /* quadratic over quadratic */
wg_callback nist_mgh09;    /* b1 (x^2 + x b2) / (x^2 + x b3 + b4) */
wg_callback nist_mgh10;    /* b1 exp(b2 / (x + b3)) */
wg_callback nist_mgh17;    /* a constant and two exponentials */
wg_callback nist_rat42;    /* b1 / (1 + exp(b2 - b3 x)) */
wg_callback nist_rat43;    /* b1 / (1 + exp(b2 - b3 x))^(1 / b4) */
wg_callback nist_eckerle4; /* (b1 / b2) exp(-((x - b3) / b2)^2 / 2) */
wg_callback nist_bennett5; /* b1 (b2 + x)^(-1 / b3) */

#endif
